import { Buffer } from "node:buffer";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import type { Client } from "./client.js";
import { type ConnectOptions, connect } from "./connect.js";
import { type CertificatePair, makeCertificate } from "./testing/certificate.js";
import { serve, type TestServer } from "./testing/http-server.js";
import { reply } from "./transport.contract.js";
import type { TransportRequest } from "./transport.js";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

let folder: string;
let server: TestServer;
let clientCa: CertificatePair;
let clientPair: CertificatePair;
const seen: TransportRequest[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-connect-"));
  clientCa = makeCertificate({ commonName: "client CA" });
  clientPair = makeCertificate({ commonName: "jane", issuer: { ...clientCa, commonName: "client CA" } });
  server = await serve(
    async (request) => {
      seen.push(request);
      return reply('{"metadata":{"resourceVersion":"7"},"items":[]}', { "content-type": "application/json" });
    },
    { protocol: "https", clientCa: clientCa.cert },
  );
});

afterEach(async () => {
  seen.length = 0;
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

interface Changes {
  readonly user?: object;
  readonly cluster?: object;
  readonly context?: object;
  readonly top?: object;
}

/** Writes a kubeconfig that works, but for the changes. */
async function kubeconfig(changes: Changes = {}, name = "config"): Promise<string> {
  const cluster = { server: server.url, "certificate-authority-data": base64(server.ca!), ...changes.cluster };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    clusters: [{ name: "cluster", cluster }],
    users: [{ name: "user", user: { token: "secret-token", ...changes.user } }],
    contexts: [{ name: "here", context: { cluster: "cluster", user: "user", ...changes.context } }],
    ...changes.top,
  };
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(config));
  return file;
}

async function open(options: ConnectOptions): Promise<Client> {
  const client = await connect({ env: {}, ...options });
  clients.push(client);
  return client;
}

/** The headers that the server gets from a client with this user. */
async function headersFor(user: object, options: ConnectOptions = {}): Promise<TransportRequest["headers"]> {
  const client = await open({ kubeconfig: await kubeconfig({ user: { token: undefined, ...user } }), ...options });
  await client.list(ConfigMap);
  return seen.at(-1)!.headers;
}

describe("connect", () => {
  it("names the command for an embedded cluster where none was chosen, and guesses none", async () => {
    await mkdir(join(folder, ".kube"), { recursive: true });
    await writeFile(join(folder, ".kube", "config"), "{}");
    await expect(connect({ env: { HOME: folder } })).rejects.toMatchObject({
      code: "CLUSTER_NOT_CHOSEN",
      message: expect.stringContaining("npx setpoint up"),
    });
  });

  it("reads KUBECONFIG, YAML and JSON alike", async () => {
    const file = join(folder, "config.yaml");
    await writeFile(
      file,
      `apiVersion: v1
kind: Config
current-context: here
clusters:
- name: cluster
  cluster:
    server: ${server.url}
    certificate-authority-data: ${base64(server.ca!)}
users:
- name: user
  user:
    token: from-yaml
contexts:
- name: here
  context: { cluster: cluster, user: user }
`,
    );
    const client = await open({ env: { KUBECONFIG: file } });
    expect(client.server).toBe(server.url);
    expect((await client.list(ConfigMap)).resourceVersion).toBe("7");
    expect(seen[0]!.headers.authorization).toBe("Bearer from-yaml");
  });

  it("merges the files of KUBECONFIG as kubectl does: the first entry of a name wins whole, missing files are skipped", async () => {
    const first = await kubeconfig(
      { top: { "current-context": "", contexts: [], users: [{ name: "user", user: { username: "a" } }] } },
      "first",
    );
    const second = await kubeconfig({ cluster: { server: "https://unused.invalid" } }, "second");
    const client = await open({ env: { KUBECONFIG: `${join(folder, "missing")}::${first}:${second}` } });
    expect(client.server).toBe(server.url);
    await client.list(ConfigMap);
    // Nothing of the second file's "user" is mixed into the first's.
    expect(seen[0]!.headers.authorization).toBe(`Basic ${base64("a:")}`);
  });

  it("uses the context asked for", async () => {
    const users = [
      { name: "user", user: { token: "one" } },
      { name: "other", user: { token: "two" } },
    ];
    const contexts = [
      { name: "here", context: { cluster: "cluster", user: "user" } },
      { name: "there", context: { cluster: "cluster", user: "other" } },
    ];
    const client = await open({ kubeconfig: await kubeconfig({ top: { users, contexts } }), context: "there" });
    await client.list(ConfigMap);
    expect(seen[0]!.headers.authorization).toBe("Bearer two");
  });

  it("keeps clients apart whose users have the same name", async () => {
    const one = await open({ kubeconfig: await kubeconfig({ user: { token: "one" } }, "one") });
    const two = await open({ kubeconfig: await kubeconfig({ user: { token: "two" } }, "two") });
    await Promise.all([one.list(ConfigMap), two.list(ConfigMap), one.list(ConfigMap)]);
    expect(seen.map((request) => request.headers.authorization).sort()).toEqual([
      "Bearer one",
      "Bearer one",
      "Bearer two",
    ]);
  });

  it("presents a client certificate from data and from files relative to the kubeconfig", async () => {
    await writeFile(join(folder, "client.crt"), clientPair.cert);
    await writeFile(join(folder, "client.key"), clientPair.key);
    await writeFile(join(folder, "ca.crt"), server.ca!);
    const data = { "client-certificate-data": base64(clientPair.cert), "client-key-data": base64(clientPair.key) };
    const files = { "client-certificate": "client.crt", "client-key": "client.key" };
    const cluster = { "certificate-authority-data": undefined, "certificate-authority": "ca.crt" };
    for (const user of [data, files]) {
      const client = await open({ kubeconfig: await kubeconfig({ user: { token: undefined, ...user }, cluster }) });
      await client.list(ConfigMap);
    }
    expect(seen.map((request) => request.headers["x-client-certificate"])).toEqual(["jane", "jane"]);
    expect(seen.map((request) => request.headers.authorization)).toEqual([undefined, undefined]);
  });

  it("sends tokens, passwords and impersonation as kubectl does", async () => {
    expect((await headersFor({ token: "abc" })).authorization).toBe("Bearer abc");
    expect((await headersFor({ username: "jöe", password: "s:t" })).authorization).toBe(`Basic ${base64("jöe:s:t")}`);
    const headers = await headersFor({
      token: "abc",
      as: "jane",
      "as-uid": "42",
      "as-groups": ["one", "two, three"],
      "as-user-extra": { "example.com/Scope Of": ["a", "b"] },
    });
    expect(headers).toMatchObject({
      "impersonate-user": "jane",
      "impersonate-uid": "42",
      "impersonate-group": ["one", "two, three"],
      "impersonate-extra-example.com%2fscope%20of": ["a", "b"],
    });
  });

  it("reads a token file again each minute, and keeps the last token while it cannot be read", async () => {
    const clock = new VirtualClock();
    const file = join(folder, "token");
    await writeFile(file, "first\n");
    const client = await open({
      kubeconfig: await kubeconfig({ user: { token: undefined, tokenFile: "token" } }),
      clock,
    });
    const token = async (): Promise<unknown> => {
      await client.list(ConfigMap);
      return seen.at(-1)!.headers.authorization;
    };
    expect(await token()).toBe("Bearer first");
    await writeFile(file, "second");
    expect(await token()).toBe("Bearer first");
    await clock.advance(60_000);
    expect(await token()).toBe("Bearer second");
    await rm(file);
    await clock.advance(60_000);
    expect(await token()).toBe("Bearer second");
  });

  it("takes up rotated certificates within a minute, on new connections", async () => {
    const clock = new VirtualClock();
    const rotated = makeCertificate({ commonName: "jane again", issuer: { ...clientCa, commonName: "client CA" } });
    await writeFile(join(folder, "client.crt"), clientPair.cert);
    await writeFile(join(folder, "client.key"), clientPair.key);
    const user = { "client-certificate": "client.crt", "client-key": "client.key" };
    const client = await open({ kubeconfig: await kubeconfig({ user }), clock });
    const before = server.connections();
    await client.list(ConfigMap);
    await client.list(ConfigMap);
    expect(server.connections()).toBe(before + 1);
    await writeFile(join(folder, "client.crt"), rotated.cert);
    await writeFile(join(folder, "client.key"), rotated.key);
    await clock.advance(60_000);
    await client.list(ConfigMap);
    expect(server.connections()).toBe(before + 2);
    expect(seen.map((request) => request.headers["x-client-certificate"])).toEqual(["jane", "jane", "jane again"]);
  });

  it("does not send credentials over plain HTTP, as kubectl does not", async () => {
    const plainSeen: TransportRequest[] = [];
    await using plain = await serve(
      async (request) => {
        plainSeen.push(request);
        return reply('{"metadata":{},"items":[]}');
      },
      { protocol: "http" },
    );
    const cluster = { server: plain.url, "certificate-authority-data": undefined };
    const client = await open({ kubeconfig: await kubeconfig({ cluster }) });
    await client.list(ConfigMap);
    expect(plainSeen[0]!.headers.authorization).toBeUndefined();
  });

  it("puts the path of the server's URL in front of all others", async () => {
    const client = await open({
      kubeconfig: await kubeconfig({ cluster: { server: `${server.url}/k8s/clusters/c-1/` } }),
    });
    await client.list(ConfigMap);
    expect(seen[0]!.path).toBe("/k8s/clusters/c-1/api/v1/configmaps");
  });
});

describe("a kubeconfig with a wrong field", () => {
  const wrong: readonly [string, Changes, string][] = [
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
  ];

  it.each(wrong)("%s", async (_, changes, message) => {
    const file = await kubeconfig(changes, "wrong");
    const error = await connect({ kubeconfig: file, env: {} }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "KUBECONFIG_INVALID" });
    expect((error as Error).message).toContain(`${file}: ${message}`);
    expect((error as Error).message).not.toContain("secret-token");
  });

  it("a client key that is none, and one that belongs to another certificate", async () => {
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

  it("a file that is not there, is no YAML, or lacks the context asked for", async () => {
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

  it("in another entry than the one used is not looked at", async () => {
    const clusters = [
      { name: "broken", cluster: { server: 7 } },
      { name: "cluster", cluster: { server: server.url, "certificate-authority-data": base64(server.ca!) } },
    ];
    const client = await open({ kubeconfig: await kubeconfig({ top: { clusters } }) });
    await client.list(ConfigMap);
  });
});
