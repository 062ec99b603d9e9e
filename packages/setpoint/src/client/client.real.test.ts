import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { ConfigMap, Namespace } from "../kinds/builtin/v1.js";
import { isForbidden, isUnauthorized } from "./api-error.js";
import type { Client } from "./client.js";
import { clientSuite } from "./client.suite.js";
import { type ConnectOptions, connect } from "./connect.js";
import { makeCertificate } from "./testing/certificate.js";

let cluster: Awaited<ReturnType<typeof startKubernetes>>;

beforeAll(async () => {
  cluster = await startKubernetes();
}, 900_000);

afterAll(() => cluster?.stop());

const open = (options?: ConnectOptions): Promise<Client> => connect({ kubeconfig: cluster.kubeconfig, ...options });

clientSuite("a real kube-apiserver over HTTP/1.1", (options) => open(options));
clientSuite("a real kube-apiserver over HTTP/2", (options) => open({ ...options, protocol: "http2" }));

describe("a kubeconfig, on a real kube-apiserver", () => {
  /** The cluster's kubeconfig with changes to its user and cluster. */
  async function changed(name: string, change: { user?: object; cluster?: object }): Promise<string> {
    const config = JSON.parse(await readFile(cluster.kubeconfig, "utf8"));
    if (change.user) config.users[0].user = change.user;
    Object.assign(config.clusters[0].cluster, change.cluster);
    const file = join(cluster.dir, name);
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  async function canList(client: Client): Promise<boolean> {
    await using _ = client;
    return (await client.list(Namespace)).items.length > 0;
  }

  it("is refused with a wrong token", async () => {
    await using client = await connect({ kubeconfig: await changed("wrong", { user: { token: "wrong" } }) });
    await expect(client.list(Namespace)).rejects.toSatisfy(isUnauthorized);
  });

  it("takes its token from a file, and from an exec plugin", async () => {
    await writeFile(join(cluster.dir, "token"), `${cluster.token}\n`);
    expect(await canList(await connect({ kubeconfig: await changed("file", { user: { tokenFile: "token" } }) }))).toBe(
      true,
    );
    const credential = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: { token: cluster.token },
    };
    const exec = {
      apiVersion: credential.apiVersion,
      command: process.execPath,
      args: ["-e", `console.log(${JSON.stringify(JSON.stringify(credential))})`],
      interactiveMode: "Never",
    };
    expect(await canList(await connect({ kubeconfig: await changed("exec", { user: { exec } }) }))).toBe(true);
  });

  it("impersonates a user and groups", async () => {
    const user = {
      token: cluster.token,
      as: "jane",
      "as-groups": ["one", "two"],
      "as-user-extra": { "example.com/a b": ["x", "y"] },
    };
    await using client = await connect({ kubeconfig: await changed("jane", { user }) });
    await expect(client.list(ConfigMap)).rejects.toSatisfy(isForbidden);
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = Buffer.from(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }));
    const headers = { "content-type": "application/json" };
    const response = await client.raw({ method: "POST", path, headers, body });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString()).status.userInfo).toMatchObject({
      username: "jane",
      groups: ["one", "two", "system:authenticated"],
      extra: { "example.com/a b": ["x", "y"] },
    });
  });

  it("does not trust a server with another CA, nor one with another name", async () => {
    const other = Buffer.from(makeCertificate({ commonName: "other" }).cert).toString("base64");
    await using strange = await connect({
      kubeconfig: await changed("ca", { cluster: { "certificate-authority-data": other } }),
    });
    await expect(strange.list(Namespace)).rejects.toMatchObject({ code: "TRANSPORT_UNTRUSTED" });
    await using misnamed = await connect({
      kubeconfig: await changed("name", { cluster: { "tls-server-name": "example.com" } }),
    });
    await expect(misnamed.list(Namespace)).rejects.toMatchObject({ code: "TRANSPORT_UNTRUSTED" });
    const insecure = { "certificate-authority-data": "", "insecure-skip-tls-verify": true };
    expect(await canList(await connect({ kubeconfig: await changed("insecure", { cluster: insecure }) }))).toBe(true);
  });
});
