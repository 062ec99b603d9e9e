import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { makeCertificate } from "../testing/certificate.js";
import { ConfigNode } from "./config-node.js";
import { ExecPlugin, execConfig } from "./exec-plugin.js";

const API_VERSION = "client.authentication.k8s.io/v1";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-exec-"));
});

afterEach(() => rm(folder, { recursive: true }));

/**
 * A plugin that prints the current content of `answer.json` and appends its input to `calls`. `fields` are those of
 * `exec` in the kubeconfig.
 */
async function plugin(fields: object = {}, options: { script?: string; cluster?: object } = {}) {
  const clock = new VirtualClock();
  const script =
    options.script ??
    `#!/bin/sh
cat "$(dirname "$0")/answer.json"
printf '%s|%s|%s\\n' "$KUBERNETES_EXEC_INFO" "$*" "$EXTRA" >> "$(dirname "$0")/calls"
`;
  await writeFile(join(folder, "plugin"), script);
  await chmod(join(folder, "plugin"), 0o755);
  const exec = { apiVersion: API_VERSION, command: "./plugin", interactiveMode: "Never", ...fields };
  const node = new ConfigNode(exec, join(folder, "config"), "users[0].user.exec");
  const cluster = new ConfigNode(options.cluster ?? {}, join(folder, "config"), "clusters[0].cluster");
  return { clock, plugin: new ExecPlugin(execConfig(node, cluster), clock, { PATH: process.env.PATH }) };
}

async function answers(status: object | undefined, apiVersion = API_VERSION): Promise<void> {
  await writeFile(join(folder, "answer.json"), JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
}

async function calls(): Promise<string[]> {
  return (await readFile(join(folder, "calls"), "utf8")).trim().split("\n");
}

describe("an exec plugin", () => {
  it("runs once for all waiting requests, and again when its credentials have expired", async () => {
    const { plugin: credentials, clock } = await plugin();
    const expirationTimestamp = new Date(clock.now() + 600_000).toISOString();
    await answers({ token: "one", expirationTimestamp });
    const first = await Promise.all([credentials.headers(), credentials.headers()]);
    expect(first).toEqual([{ authorization: "Bearer one" }, { authorization: "Bearer one" }]);
    await answers({ token: "two" });
    await clock.advance(599_999);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer one" });
    await clock.advance(1);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer two" });
    await clock.advance(1e9);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer two" });
    expect(await calls()).toHaveLength(2);
  });

  it("runs again when the server rejects its token, but once for all requests that used it", async () => {
    const { plugin: credentials } = await plugin();
    await answers({ token: "one" });
    const old = await credentials.headers();
    await answers({ token: "two" });
    expect(credentials.rejected(old)).toBe(true);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer two" });
    expect(credentials.rejected(old)).toBe(true);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer two" });
    expect(await calls()).toHaveLength(2);
  });

  it("gets cluster information if it asks for it, its arguments and its environment", async () => {
    const { cert } = makeCertificate({ commonName: "ca" });
    await writeFile(join(folder, "ca.crt"), cert);
    const cluster = {
      server: "https://example.com",
      "certificate-authority": "ca.crt",
      "tls-server-name": "name",
      extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "here" } }],
    };
    const fields = { args: ["get", "token"], env: [{ name: "EXTRA", value: "more" }], provideClusterInfo: true };
    const { plugin: credentials } = await plugin(fields, { cluster });
    await answers({ token: "t" });
    await credentials.headers();
    const [info = "", args, extra] = (await calls())[0]!.split("|");
    expect([args, extra]).toEqual(["get token", "more"]);
    expect(JSON.parse(info)).toEqual({
      kind: "ExecCredential",
      apiVersion: API_VERSION,
      spec: {
        interactive: false,
        cluster: {
          server: "https://example.com",
          "tls-server-name": "name",
          "certificate-authority-data": Buffer.from(cert).toString("base64"),
          config: { audience: "here" },
        },
      },
    });
  });

  it("may return a client certificate, in v1beta1 too", async () => {
    const beta = "client.authentication.k8s.io/v1beta1";
    const { plugin: credentials } = await plugin({ apiVersion: beta, interactiveMode: undefined });
    await answers({ clientCertificateData: "CERT", clientKeyData: "KEY" }, beta);
    expect(await credentials.certificate()).toEqual({ cert: "CERT", key: "KEY" });
    expect(await credentials.headers()).toEqual({});
  });

  it.each([
    ["returns another version", { token: "secret" }, "client.authentication.k8s.io/v1beta1", "it returned apiVersion"],
    ["returns no status", undefined, API_VERSION, "it returned no status"],
    ["returns nothing of use", {}, API_VERSION, "it returned neither a token nor a client certificate"],
    ["returns half a pair", { clientKeyData: "secret" }, API_VERSION, "without the other"],
    ["returns an invalid time", { token: "secret", expirationTimestamp: "soon" }, API_VERSION, "is no time"],
  ])("fails with the field's name and without its secrets if it %s", async (_, status, apiVersion, message) => {
    const { plugin: credentials } = await plugin();
    await answers(status, apiVersion);
    const error = (await credentials.headers().catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code: "CREDENTIALS_FAILED" });
    expect(error.message).toContain(`${join(folder, "config")}: users[0].user.exec: the credential plugin`);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("secret");
  });

  it("fails with its own error output, and is tried again the next time", async () => {
    const { plugin: credentials } = await plugin({}, { script: "#!/bin/sh\necho please log in >&2\nexit 3\n" });
    await expect(credentials.headers()).rejects.toThrow("it ended with exit code 3: please log in");
    await writeFile(join(folder, "plugin"), '#!/bin/sh\ncat "$(dirname "$0")/answer.json"\n');
    await answers({ token: "t" });
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t" });
  });

  it("fails if its output is not JSON, without quoting it", async () => {
    const { plugin: credentials } = await plugin({}, { script: "#!/bin/sh\necho secret\n" });
    await expect(credentials.headers()).rejects.toThrow(/its output is not JSON$/);
  });

  it("that is not installed is reported with its install hint", async () => {
    const { plugin: credentials } = await plugin({ command: "no-such-plugin-here", installHint: "Install it with x." });
    await expect(credentials.headers()).rejects.toThrow(
      /no-such-plugin-here.*could not be started.*Install it with x\./,
    );
  });

  it("that needs a terminal is refused without one", async () => {
    const { plugin: credentials } = await plugin({ interactiveMode: "Always" });
    await expect(credentials.headers()).rejects.toThrow("standard input is not a terminal");
  });
});
