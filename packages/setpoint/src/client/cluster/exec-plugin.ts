import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import { describe } from "../transport/transport-error.js";
import type { ConfigNode } from "./config-node.js";
import type { CredentialHeaders, Credentials } from "./credentials.js";
import type { Environment } from "./in-cluster.js";
import { resolvePath } from "./kubeconfig.js";
import { pemSource } from "./pem-source.js";

const GROUP = "client.authentication.k8s.io";
const VERSIONS = [`${GROUP}/v1`, `${GROUP}/v1beta1`];
const INTERACTIVE_MODES = ["Never", "IfAvailable", "Always"] as const;
/** How much of the plugin's stderr an error shows. */
const SHOWN_STDERR = 400;

type InteractiveMode = (typeof INTERACTIVE_MODES)[number];

/** `users[].user.exec`, checked. */
export interface ExecConfig {
  /** The position of the configuration, for messages. */
  readonly node: ConfigNode;
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly interactiveMode: InteractiveMode;
  readonly installHint: string | undefined;
  /** The cluster info for the plugin; undefined unless the plugin asks for it. */
  readonly cluster: (() => Promise<object>) | undefined;
}

/** Throws `KUBECONFIG_INVALID`, naming the field. */
export function execConfig(node: ConfigNode, cluster: ConfigNode): ExecConfig {
  const apiVersion = required(node, "apiVersion");
  if (!VERSIONS.includes(apiVersion)) {
    throw node.field("apiVersion").invalid(`must be one of ${VERSIONS.join(", ")}, but is "${apiVersion}"`);
  }
  const command = required(node, "command");
  // v1beta1 had no such field: kubectl assumes IfAvailable for it.
  const mode = node.string("interactiveMode") ?? (apiVersion.endsWith("/v1") ? undefined : "IfAvailable");
  const interactiveMode = INTERACTIVE_MODES.find((known) => known === mode);
  if (!interactiveMode) {
    throw node
      .field("interactiveMode")
      .invalid(`must be one of ${INTERACTIVE_MODES.join(", ")}, but is ${mode ?? "missing"}`);
  }
  const env = node.list("env").map((item) => [required(item, "name"), item.string("value") ?? ""] as const);
  return {
    node,
    apiVersion,
    command: command.includes("/") ? resolvePath(node, command) : command,
    args: node.strings("args"),
    env: Object.fromEntries(env),
    interactiveMode,
    installHint: node.string("installHint")?.replaceAll(/\p{Cc}/gu, " "),
    cluster: node.boolean("provideClusterInfo") ? () => clusterInfo(cluster) : undefined,
  };
}

function required(node: ConfigNode, field: string): string {
  const value = node.string(field);
  if (value === undefined) throw node.field(field).invalid("is missing");
  return value;
}

async function clusterInfo(cluster: ConfigNode): Promise<object> {
  const ca = await pemSource(cluster, "certificate-authority", "certificate")?.read();
  const extension = cluster.list("extensions").find((item) => item.string("name") === `${GROUP}/exec`);
  return {
    server: cluster.string("server"),
    "tls-server-name": cluster.string("tls-server-name"),
    "insecure-skip-tls-verify": cluster.boolean("insecure-skip-tls-verify") || undefined,
    "certificate-authority-data": ca && Buffer.from(ca, "utf8").toString("base64"),
    "proxy-url": cluster.string("proxy-url"),
    config: extension?.field("extension").value ?? null,
  };
}

/** What a plugin returned. */
interface PluginCredential {
  readonly token: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  readonly expiresAtMs: number;
}

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Credentials from a plugin. It runs on first use, when the credentials expire and when the server rejects them, and
 * never twice at once. Only this object caches the result.
 */
export class ExecPlugin implements Credentials {
  readonly #config: ExecConfig;
  readonly #clock: Clock;
  readonly #env: Environment;
  #credential: PluginCredential | undefined;
  #running: Promise<PluginCredential> | undefined;

  constructor(config: ExecConfig, clock: Clock, env: Environment) {
    this.#config = config;
    this.#clock = clock;
    this.#env = env;
  }

  async headers(): Promise<CredentialHeaders> {
    return headersOf(await this.#current());
  }

  async certificate(): Promise<ClientCertificate | undefined> {
    return (await this.#current()).certificate;
  }

  rejected(headers: CredentialHeaders): boolean {
    const current = this.#credential;
    // Another request may have had the same response before, and the plugin has run since.
    if (current && headersOf(current).authorization === headers.authorization) this.#credential = undefined;
    return true;
  }

  #current(): Promise<PluginCredential> | PluginCredential {
    if (this.#credential && this.#clock.now() < this.#credential.expiresAtMs) return this.#credential;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<PluginCredential> {
    const { apiVersion, cluster, env } = this.#config;
    const interactive = this.#isInteractive();
    const spec = { interactive, ...(cluster ? { cluster: await cluster() } : {}) };
    const info = JSON.stringify({ kind: "ExecCredential", apiVersion, spec });
    const output = await this.#spawn({ ...this.#env, ...env, KUBERNETES_EXEC_INFO: info }, interactive);
    return (this.#credential = this.#read(output));
  }

  #isInteractive(): boolean {
    const { interactiveMode } = this.#config;
    if (interactiveMode === "Never") return false;
    if (process.stdin.isTTY) return true;
    if (interactiveMode === "Always")
      throw this.#failure("it must be interactive, but standard input is not a terminal");
    return false;
  }

  async #spawn(env: Environment, interactive: boolean): Promise<string> {
    const { spawn } = process.getBuiltinModule("node:child_process");
    const { command, args, installHint } = this.#config;
    return new Promise((resolveOutput, reject) => {
      const child = spawn(command, [...args], {
        env: env as NodeJS.ProcessEnv,
        stdio: [interactive ? "inherit" : "ignore", "pipe", "pipe"],
      });
      let output = "";
      let complaints = "";
      child.stdout!.setEncoding("utf8").on("data", (text: string) => (output += text));
      child.stderr!.setEncoding("utf8").on("data", (text: string) => {
        complaints = (complaints + text).slice(-4096);
        if (interactive) process.stderr.write(text);
      });
      child.once("error", (cause: NodeJS.ErrnoException) => {
        const hint = cause.code === "ENOENT" && installHint ? `. ${installHint}` : "";
        reject(this.#failure(`it could not be started: ${describe(cause)}${hint}`, cause));
      });
      child.once("close", (code, signal) => {
        if (code === 0) resolveOutput(output);
        else {
          const words = complaints.trim().slice(-SHOWN_STDERR);
          reject(this.#failure(`it ended with ${signal ?? `exit code ${code}`}${words ? `: ${words}` : ""}`));
        }
      });
    });
  }

  /** Errors never show the output: it may contain a credential. */
  #read(output: string): PluginCredential {
    let document: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> | null };
    try {
      document = JSON.parse(output);
    } catch {
      throw this.#failure("its output is not JSON");
    }
    const { apiVersion, status } = document ?? {};
    if (apiVersion !== this.#config.apiVersion) {
      throw this.#failure(`it returned apiVersion ${JSON.stringify(apiVersion)}, not ${this.#config.apiVersion}`);
    }
    if (!status) throw this.#failure("it returned no status");
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
    if (!token && !cert && !key) throw this.#failure("it returned neither a token nor a client certificate");
    if (Boolean(cert) !== Boolean(key))
      throw this.#failure("it returned a client certificate or key without the other");
    const expiresAtMs = expirationTimestamp ? Date.parse(String(expirationTimestamp)) : Infinity;
    if (Number.isNaN(expiresAtMs)) throw this.#failure(`its expirationTimestamp ${expirationTimestamp} is no time`);
    return {
      token: token ? String(token) : undefined,
      certificate: cert ? { cert: String(cert), key: String(key) } : undefined,
      expiresAtMs,
    };
  }

  #failure(problem: string, cause?: unknown): SetpointError {
    const { node, command } = this.#config;
    const message = `${node.file}: ${node.path}: the credential plugin "${command}" failed: ${problem}`;
    return new SetpointError("CREDENTIALS_FAILED", message, cause === undefined ? undefined : { cause });
  }
}

function headersOf({ token }: PluginCredential): CredentialHeaders {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
