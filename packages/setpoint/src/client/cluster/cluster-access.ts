import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import { ConfigNode } from "./config-node.js";
import { anonymous, bearerToken, type Credentials, withHeaders } from "./credentials.js";
import { type ClientCertificate, ExecPlugin, execConfig } from "./exec-plugin.js";
import type { Environment } from "./in-cluster.js";
import { type Kubeconfig, resolvePath } from "./kubeconfig.js";
import { pemSource } from "./pem-source.js";
import type { TlsFiles } from "./tls-source.js";
import { tokenFile } from "./token-file.js";

/** How to reach one cluster as one user: a resolved context of a kubeconfig. */
export interface ClusterAccess {
  readonly server: string;
  readonly tls: TlsFiles;
  readonly proxyUrl: string | undefined;
  /** The namespace of the context; `default` if it names none. */
  readonly namespace: string;
  readonly credentials: Credentials;
  /** A client certificate that a plugin provides, in place of one in a file. */
  readonly clientCertificate?: () => Promise<ClientCertificate | undefined>;
}

/** The access of the requested or the current context. Throws `KUBECONFIG_INVALID`, which names file and field. */
export function clusterAccess(
  config: Kubeconfig,
  contextName: string | undefined,
  clock: Clock,
  env: Environment,
): ClusterAccess {
  const context = contextOf(config, contextName);
  const cluster = referred(context, "cluster", config.clusters);
  const user = referred(context, "user", config.users);
  const server = serverOf(cluster);
  const proxyUrl = proxyOf(cluster);
  const namespace = context.string("namespace") ?? "default";
  // Like kubectl, send no credentials over plain HTTP.
  if (!server.startsWith("https:")) return { server, tls: {}, proxyUrl, namespace, credentials: anonymous };
  const tls = tlsOf(cluster, user);
  const plugin = pluginOf(user, cluster, clock, env);
  const own = staticCredentials(user, clock);
  const usesPlugin = plugin !== undefined && own === undefined && tls.cert === undefined;
  const credentials = impersonating(user, usesPlugin ? plugin : (own ?? anonymous));
  const clientCertificate = usesPlugin ? () => plugin.certificate() : undefined;
  return { server, tls, proxyUrl, namespace, credentials, clientCertificate };
}

function contextOf(config: Kubeconfig, asked: string | undefined): ConfigNode {
  const names = [...config.contexts.keys()].map((name) => `"${name}"`).join(", ") || "none";
  const { currentContext, files } = config;
  if (asked === undefined && !currentContext.isPresent) {
    throw currentContext.invalid(`is not set; choose a context (there are: ${names})`);
  }
  if (asked === undefined && typeof currentContext.value !== "string") {
    throw currentContext.invalid("must be a string");
  }
  const name = asked ?? (currentContext.value as string);
  const context = config.contexts.get(name);
  if (context) return context;
  if (asked === undefined) throw currentContext.invalid(`names "${name}", but the contexts are: ${names}`);
  throw new ConfigNode(undefined, files.join(", "), "contexts").invalid(`no context "${name}"; there are: ${names}`);
}

function referred(context: ConfigNode, field: string, entries: ReadonlyMap<string, ConfigNode>): ConfigNode {
  const name = context.string(field);
  if (name === undefined) throw context.field(field).invalid("is missing");
  const entry = entries.get(name);
  if (entry) return entry;
  const names = [...entries.keys()].map((known) => `"${known}"`).join(", ") || "none";
  throw context.field(field).invalid(`names the ${field} "${name}", but there are: ${names}`);
}

function serverOf(cluster: ConfigNode): string {
  const node = cluster.field("server");
  const text = cluster.string("server");
  if (text === undefined) throw node.invalid("is missing");
  const usesTls = ["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"].some(
    (field) => cluster.field(field).isPresent,
  );
  const url = text.includes("://") ? text : `${usesTls ? "https" : "http"}://${text}`;
  const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).hostname !== "";
  if (!isUrl) throw node.invalid(`must be an http or https URL, but is "${text}"`);
  const { username, password } = new URL(url);
  if (username || password) throw node.invalid("must not contain a user name or password; put them into the user");
  return url;
}

function tlsOf(cluster: ConfigNode, user: ConfigNode): TlsFiles {
  const insecure = cluster.boolean("insecure-skip-tls-verify");
  const ca = pemSource(cluster, "certificate-authority", "certificate");
  if (insecure && ca) throw ca.node.invalid("cannot be used with insecure-skip-tls-verify; remove one of them");
  const cert = pemSource(user, "client-certificate", "certificate");
  const key = pemSource(user, "client-key", "key");
  if (cert && !key)
    throw user.field("client-key").invalid("or client-key-data is missing: a client certificate needs its key");
  return { ca, cert, key: cert && key, serverName: cluster.string("tls-server-name"), insecure };
}

function proxyOf(cluster: ConfigNode): string | undefined {
  const text = cluster.string("proxy-url");
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^(https?|socks5h?):$/.test(new URL(text).protocol)) return text;
  throw cluster.field("proxy-url").invalid(`must be an http, https or socks5 URL, but is "${text}"`);
}

/** Like kubectl, do not run a plugin if the user also has a token, a password or a certificate. */
function pluginOf(user: ConfigNode, cluster: ConfigNode, clock: Clock, env: Environment): ExecPlugin | undefined {
  const provider = user.field("auth-provider");
  if (provider.isPresent) {
    throw provider.invalid("is no longer part of Kubernetes; use your provider's exec plugin (users[].user.exec)");
  }
  const exec = user.field("exec");
  return exec.isPresent ? new ExecPlugin(execConfig(exec, cluster), clock, env) : undefined;
}

function staticCredentials(user: ConfigNode, clock: Clock): Credentials | undefined {
  const token = user.string("token");
  const file = user.string("tokenFile");
  const username = user.string("username");
  const password = user.string("password");
  const hasPassword = username !== undefined || password !== undefined;
  if (token !== undefined && hasPassword) {
    throw user.field("token").invalid("and username/password are both set; only one is allowed");
  }
  if (file !== undefined) {
    const node = user.field("tokenFile");
    return tokenFile(resolvePath(node, file), `${node.file}: ${node.path}`, clock, token);
  }
  if (token !== undefined) return bearerToken(token);
  if (!hasPassword) return undefined;
  const pair = Buffer.from(`${username ?? ""}:${password ?? ""}`, "utf8").toString("base64");
  return { headers: () => ({ authorization: `Basic ${pair}` }) };
}

function impersonating(user: ConfigNode, credentials: Credentials): Credentials {
  const name = user.string("as");
  const uid = user.string("as-uid");
  const groups = user.strings("as-groups");
  const extraNode = user.field("as-user-extra");
  const extra = extraNode.isPresent ? extraNode.record() : {};
  if (name === undefined) {
    const orphan = ["as-uid", "as-groups", "as-user-extra"].find((field) => user.field(field).isPresent);
    if (orphan) throw user.field(orphan).invalid("needs the user to impersonate in `as`");
    return credentials;
  }
  const headers: Record<string, string | readonly string[]> = { "impersonate-user": name };
  if (uid !== undefined) headers["impersonate-uid"] = uid;
  if (groups.length > 0) headers["impersonate-group"] = groups;
  for (const key of Object.keys(extra))
    headers[`impersonate-extra-${encodeURIComponent(key)}`] = extraNode.strings(key);
  return withHeaders(credentials, headers);
}
