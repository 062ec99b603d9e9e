import { describe, expect, it } from "vitest";
import { type DiscoveryClient, discoverKind } from "./discovered-kind.js";

function answering(status: number, text: string): DiscoveryClient & { paths: string[] } {
  const paths: string[] = [];
  return {
    paths,
    async raw({ path }) {
      paths.push(path);
      return {
        status,
        body: (async function* () {
          yield Buffer.from(text);
        })(),
      };
    },
  };
}

const apps = JSON.stringify({
  resources: [
    { name: "deployments", kind: "Deployment", namespaced: true },
    { name: "deployments/scale", kind: "Scale", namespaced: true },
  ],
});

describe("discovering a kind", () => {
  it("takes its plural and scope from the server", async () => {
    const client = answering(200, apps);
    expect(await discoverKind(client, "apps/v1/Deployment")).toEqual({
      group: "apps",
      version: "v1",
      kind: "Deployment",
      apiVersion: "apps/v1",
      plural: "deployments",
      scope: "Namespaced",
    });
    expect(client.paths).toEqual(["/apis/apps/v1"]);
    const core = answering(200, JSON.stringify({ resources: [{ name: "nodes", kind: "Node", namespaced: false }] }));
    expect(await discoverKind(core, "v1/Node")).toMatchObject({ plural: "nodes", scope: "Cluster", apiVersion: "v1" });
    expect(core.paths).toEqual(["/api/v1"]);
  });

  it("names what is served instead; a subresource is no kind of its own", async () => {
    const missing = discoverKind(answering(200, apps), "apps/v1/Scale");
    await expect(missing).rejects.toMatchObject({ code: "KIND_NOT_SERVED", message: /apps\/v1 has Deployment/ });
    const unknown = discoverKind(answering(404, "not found"), "a.b/v1/C");
    await expect(unknown).rejects.toMatchObject({ code: "KIND_NOT_SERVED" });
  });

  it.each([
    [200, "<html>"],
    [200, "{}"],
    [500, "broken"],
  ])("fails for the response %s %s", async (status, text) => {
    await expect(discoverKind(answering(status, text), "a.b/v1/C")).rejects.toMatchObject({ code: "DISCOVERY_FAILED" });
  });
});
