import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../connect.js";
import { makeCertificate } from "../testing/certificate.js";
import { base64, type KubeconfigChanges, writeKubeconfig } from "../testing/kubeconfig.js";

const clientPair = makeCertificate({ commonName: "jane" });
const server = { url: "https://127.0.0.1:6443", ca: makeCertificate({ commonName: "CA" }).cert };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-kubeconfig-"));
});
afterAll(() => rm(folder, { recursive: true }));

const kubeconfig = (changes: KubeconfigChanges = {}, name = "config"): Promise<string> =>
  writeKubeconfig(folder, server, changes, name);

describe("a kubeconfig with a wrong field", () => {
  const PLUGIN = { apiVersion: "client.authentication.k8s.io/v1", command: "x", interactiveMode: "Never" };
  const wrong: readonly [string, KubeconfigChanges, string][] = [
    ["kind", { top: { kind: "Secret" } }, "kind: must be Config, but is Secret"],
    ["apiVersion", { top: { apiVersion: "v2" } }, "apiVersion: must be v1, but is v2"],
    [
      "current-context, missing",
      { top: { "current-context": "" } },
      'current-context: is not set; choose a context (there are: "here")',
    ],
    [
      "current-context, unknown",
      { top: { "current-context": "gone" } },
      'current-context: names "gone", but the contexts are: "here"',
    ],
    ["current-context, no text", { top: { "current-context": 7 } }, "current-context: must be a string"],
    ["clusters", { top: { clusters: "none" } }, "clusters: must be a list, but is a string"],
    ["clusters[].name", { top: { clusters: [{ cluster: {} }] } }, "clusters[0].name: is missing"],
    [
      "clusters[].cluster",
      { top: { clusters: [{ name: "cluster", cluster: "x" }] } },
      "clusters[0].cluster: must be a mapping, but is a string",
    ],
    ["context.cluster, missing", { context: { cluster: undefined } }, "contexts[0].context.cluster: is missing"],
    [
      "context.cluster, unknown",
      { context: { cluster: "gone" } },
      'contexts[0].context.cluster: names the cluster "gone", but there are: "cluster"',
    ],
    [
      "context.user",
      { context: { user: "gone" } },
      'contexts[0].context.user: names the user "gone", but there are: "user"',
    ],
    ["server, missing", { cluster: { server: undefined } }, "clusters[0].cluster.server: is missing"],
    [
      "server, no URL",
      { cluster: { server: "ftp://x" } },
      'clusters[0].cluster.server: must be an http or https URL, but is "ftp://x"',
    ],
    [
      "server, with a password",
      { cluster: { server: "https://a:b@x" } },
      "clusters[0].cluster.server: must not contain a user name or password",
    ],
    [
      "certificate-authority-data",
      { cluster: { "certificate-authority-data": "###" } },
      "clusters[0].cluster.certificate-authority-data: is not base64",
    ],
    [
      "certificate-authority-data, no PEM",
      { cluster: { "certificate-authority-data": base64("x") } },
      "clusters[0].cluster.certificate-authority-data: is not a PEM certificate",
    ],
    [
      "certificate-authority, absent",
      { cluster: { "certificate-authority-data": undefined, "certificate-authority": "no.crt" } },
      "clusters[0].cluster.certificate-authority: cannot read",
    ],
    [
      "certificate-authority, twice",
      { cluster: { "certificate-authority": "x" } },
      "clusters[0].cluster.certificate-authority: and certificate-authority-data are both set",
    ],
    [
      "insecure-skip-tls-verify",
      { cluster: { "insecure-skip-tls-verify": "yes" } },
      "clusters[0].cluster.insecure-skip-tls-verify: must be true or false, but is a string",
    ],
    [
      "insecure-skip-tls-verify, with a CA",
      { cluster: { "insecure-skip-tls-verify": true } },
      "clusters[0].cluster.certificate-authority-data: cannot be used with insecure-skip-tls-verify",
    ],
    [
      "tls-server-name",
      { cluster: { "tls-server-name": 1 } },
      "clusters[0].cluster.tls-server-name: must be a string, but is a number",
    ],
    [
      "proxy-url",
      { cluster: { "proxy-url": "carrier-pigeon://x" } },
      'clusters[0].cluster.proxy-url: must be an http, https or socks5 URL, but is "carrier-pigeon://x"',
    ],
    ["token", { user: { token: 5 } }, "users[0].user.token: must be a string, but is a number"],
    ["token and password", { user: { username: "x" } }, "users[0].user.token: and username/password are both set"],
    [
      "client-certificate-data",
      { user: { "client-certificate-data": "###" } },
      "users[0].user.client-certificate-data: is not base64",
    ],
    [
      "client-key, missing",
      { user: { "client-certificate-data": base64("x") } },
      "users[0].user.client-key: or client-key-data is missing",
    ],
    [
      "as-groups without as",
      { user: { "as-groups": ["a"] } },
      "users[0].user.as-groups: needs the user to impersonate in `as`",
    ],
    [
      "as-groups, no texts",
      { user: { as: "a", "as-groups": [1] } },
      "users[0].user.as-groups[0]: must be a string, but is a number",
    ],
    [
      "auth-provider",
      { user: { token: undefined, "auth-provider": { name: "gcp" } } },
      "users[0].user.auth-provider: is no longer part of Kubernetes",
    ],
    [
      "exec.apiVersion",
      { user: { exec: { command: "x", apiVersion: "v1" } } },
      "users[0].user.exec.apiVersion: must be one of client.authentication.k8s.io/v1",
    ],
    [
      "exec.command",
      { user: { exec: { apiVersion: "client.authentication.k8s.io/v1" } } },
      "users[0].user.exec.command: is missing",
    ],
    [
      "exec.interactiveMode",
      { user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x" } } },
      "users[0].user.exec.interactiveMode: must be one of Never, IfAvailable, Always, but is missing",
    ],
    [
      "exec.env",
      {
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "x",
            interactiveMode: "Never",
            env: [{ value: "x" }],
          },
        },
      },
      "users[0].user.exec.env[0].name: is missing",
    ],
    [
      "clusters[].cluster.server, no text",
      { cluster: { server: 7 } },
      "clusters[0].cluster.server: must be a string, but is a number",
    ],
    ["contexts", { top: { contexts: {} } }, "contexts: must be a list, but is a mapping"],
    ["contexts[].name", { top: { contexts: [{ context: {} }] } }, "contexts[0].name: is missing"],
    [
      "contexts[].context",
      { top: { contexts: [{ name: "here", context: [] }] } },
      "contexts[0].context: must be a mapping, but is a list",
    ],
    [
      "context.namespace",
      { context: { namespace: 1 } },
      "contexts[0].context.namespace: must be a string, but is a number",
    ],
    ["context.user, no text", { context: { user: 1 } }, "contexts[0].context.user: must be a string, but is a number"],
    ["users", { top: { users: 1 } }, "users: must be a list, but is a number"],
    ["users[].name", { top: { users: [{ user: {} }] } }, "users[0].name: is missing"],
    [
      "users[].user",
      { top: { users: [{ name: "user", user: "x" }] } },
      "users[0].user: must be a mapping, but is a string",
    ],
    [
      "client-certificate, absent",
      { user: { "client-certificate": "no.crt", "client-key": "no.key" } },
      "users[0].user.client-certificate: cannot read",
    ],
    [
      "client-certificate, no text",
      { user: { "client-certificate": 1 } },
      "users[0].user.client-certificate: must be a string, but is a number",
    ],
    [
      "client-key, absent",
      { user: { "client-certificate-data": base64(clientPair.cert), "client-key": "no.key" } },
      "users[0].user.client-key: cannot read",
    ],
    [
      "client-key-data",
      { user: { "client-certificate-data": base64(clientPair.cert), "client-key-data": "###" } },
      "users[0].user.client-key-data: is not base64",
    ],
    [
      "tokenFile, no text",
      { user: { token: undefined, tokenFile: 1 } },
      "users[0].user.tokenFile: must be a string, but is a number",
    ],
    [
      "username",
      { user: { token: undefined, username: 1 } },
      "users[0].user.username: must be a string, but is a number",
    ],
    [
      "password",
      { user: { token: undefined, username: "x", password: 1 } },
      "users[0].user.password: must be a string, but is a number",
    ],
    ["as", { user: { as: 1 } }, "users[0].user.as: must be a string, but is a number"],
    ["as-uid", { user: { as: "a", "as-uid": 1 } }, "users[0].user.as-uid: must be a string, but is a number"],
    ["as-uid without as", { user: { "as-uid": "1" } }, "users[0].user.as-uid: needs the user to impersonate in `as`"],
    [
      "as-groups, no list",
      { user: { as: "a", "as-groups": "b" } },
      "users[0].user.as-groups: must be a list, but is a string",
    ],
    [
      "as-user-extra",
      { user: { as: "a", "as-user-extra": "b" } },
      "users[0].user.as-user-extra: must be a mapping, but is a string",
    ],
    [
      "as-user-extra, no lists",
      { user: { as: "a", "as-user-extra": { scopes: "b" } } },
      "users[0].user.as-user-extra.scopes: must be a list, but is a string",
    ],
    [
      "as-user-extra without as",
      { user: { "as-user-extra": { scopes: ["b"] } } },
      "users[0].user.as-user-extra: needs the user to impersonate in `as`",
    ],
    ["exec", { user: { token: undefined, exec: "x" } }, "users[0].user.exec: must be a mapping, but is a string"],
    [
      "exec.args",
      { user: { token: undefined, exec: { ...PLUGIN, args: "x" } } },
      "users[0].user.exec.args: must be a list, but is a string",
    ],
    [
      "exec.env, no list",
      { user: { token: undefined, exec: { ...PLUGIN, env: {} } } },
      "users[0].user.exec.env: must be a list, but is a mapping",
    ],
    [
      "exec.env[].value",
      { user: { token: undefined, exec: { ...PLUGIN, env: [{ name: "X", value: 1 }] } } },
      "users[0].user.exec.env[0].value: must be a string, but is a number",
    ],
    [
      "exec.installHint",
      { user: { token: undefined, exec: { ...PLUGIN, installHint: 1 } } },
      "users[0].user.exec.installHint: must be a string, but is a number",
    ],
    [
      "exec.interactiveMode, unknown",
      { user: { token: undefined, exec: { ...PLUGIN, interactiveMode: "Sometimes" } } },
      "users[0].user.exec.interactiveMode: must be one of Never, IfAvailable, Always, but is Sometimes",
    ],
    [
      "exec.provideClusterInfo",
      { user: { token: undefined, exec: { ...PLUGIN, provideClusterInfo: "yes" } } },
      "users[0].user.exec.provideClusterInfo: must be true or false, but is a string",
    ],
  ];

  it.each(wrong)("%s", async (_, changes, message) => {
    const file = await kubeconfig(changes, "wrong");
    const error = await connect({ kubeconfig: file, env: {} }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "KUBECONFIG_INVALID" });
    expect((error as Error).message).toContain(`${file}: ${message}`);
    expect((error as Error).message).not.toContain("secret-token");
  });

  it("rejects a client key that is malformed or belongs to another certificate", async () => {
    const other = makeCertificate({ commonName: "other" });
    const certificate = { "client-certificate-data": base64(clientPair.cert) };
    const noKey = await kubeconfig({ user: { ...certificate, "client-key-data": base64("x") } });
    await expect(connect({ kubeconfig: noKey, env: {} })).rejects.toThrow(
      "users[0].user.client-key-data: is not a PEM private key",
    );
    const otherKey = await kubeconfig({ user: { ...certificate, "client-key-data": base64(other.key) } });
    await expect(connect({ kubeconfig: otherKey, env: {} })).rejects.toThrow(
      "users[0].user.client-certificate-data: does not belong to the client key beside it",
    );
  });

  it("rejects a file that is missing, is no YAML, or lacks the requested context", async () => {
    const missing = join(folder, "no-such-file");
    await expect(connect({ kubeconfig: missing, env: {} })).rejects.toMatchObject({
      code: "KUBECONFIG_NOT_FOUND",
      message: expect.stringContaining(missing),
    });
    await expect(connect({ env: { KUBECONFIG: missing } })).rejects.toMatchObject({ code: "KUBECONFIG_NOT_FOUND" });
    const broken = join(folder, "broken");
    await writeFile(broken, "a: [1\nb: }");
    await expect(connect({ kubeconfig: broken, env: {} })).rejects.toThrow(`${broken}: is not YAML`);
    const file = await kubeconfig();
    await expect(connect({ kubeconfig: file, context: "gone", env: {} })).rejects.toThrow(
      `${file}: contexts: no context "gone"; there are: "here"`,
    );
  });

  it("is accepted if the entry with the field is not used", async () => {
    const clusters = [
      { name: "broken", cluster: { server: 7 } },
      { name: "cluster", cluster: { server: server.url, "certificate-authority-data": base64(server.ca) } },
    ];
    await using client = await connect({ kubeconfig: await kubeconfig({ top: { clusters } }), env: {} });
    expect(client.server).toBe(server.url);
  });
});
