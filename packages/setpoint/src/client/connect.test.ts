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
import { base64, type KubeconfigChanges, writeKubeconfig } from "./testing/kubeconfig.js";
import { reply } from "./transport/transport.contract.js";
import type { TransportRequest } from "./transport/transport.js";

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

const kubeconfig = (changes: KubeconfigChanges = {}, name = "config"): Promise<string> =>
  writeKubeconfig(folder, server, changes, name);

async function open(options: ConnectOptions): Promise<Client> {
  const client = await connect({ env: {}, ...options });
  clients.push(client);
  return client;
}

/** The headers that the server receives from a client with this user. */
async function headersFor(user: object, options: ConnectOptions = {}): Promise<TransportRequest["headers"]> {
  const client = await open({ kubeconfig: await kubeconfig({ user: { token: undefined, ...user } }), ...options });
  await client.list(ConfigMap);
  return seen.at(-1)!.headers;
}

describe("connect", () => {
  it("names the command for an embedded cluster if none is chosen, and does not guess", async () => {
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

  it("merges the files of KUBECONFIG as kubectl does: the first entry of a name wins, missing files are skipped", async () => {
    const first = await kubeconfig(
      { top: { "current-context": "", contexts: [], users: [{ name: "user", user: { username: "a" } }] } },
      "first",
    );
    const second = await kubeconfig({ cluster: { server: "https://unused.invalid" } }, "second");
    const client = await open({ env: { KUBECONFIG: `${join(folder, "missing")}::${first}:${second}` } });
    expect(client.server).toBe(server.url);
    await client.list(ConfigMap);
    // Nothing of the second file's "user" is merged into the first's.
    expect(seen[0]!.headers.authorization).toBe(`Basic ${base64("a:")}`);
  });

  it("uses the requested context", async () => {
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

  it("reads a token file again each minute, and keeps the last token while the file is unreadable", async () => {
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

  it("uses rotated certificates within a minute, on new connections", async () => {
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

  it("does not send credentials over plain HTTP, like kubectl", async () => {
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

  it("prefixes all paths with the path of the server's URL", async () => {
    const client = await open({
      kubeconfig: await kubeconfig({ cluster: { server: `${server.url}/k8s/clusters/c-1/` } }),
    });
    await client.list(ConfigMap);
    expect(seen[0]!.path).toBe("/k8s/clusters/c-1/api/v1/configmaps");
  });
});
