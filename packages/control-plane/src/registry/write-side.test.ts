import { seededRandom } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadFacts } from "../facts/facts.js";
import { MemoryStorage } from "../storage/memory-storage.js";
import { requestOf } from "./plane.testing.js";
import { Registry } from "./registry.js";

let clock: VirtualClock;
let storage: MemoryStorage;
/** How often the write side was loaded. */
let loads: number;
const registries: Registry[] = [];
beforeEach(() => {
  clock = new VirtualClock();
  storage = new MemoryStorage({ clock });
  loads = 0;
});
afterEach(async () => {
  for (const registry of registries.splice(0)) await registry[Symbol.asyncDispose]();
  await storage[Symbol.asyncDispose]();
});

/** Like a server at its start: only what a first response needs is loaded. */
async function started(): Promise<Registry> {
  const registry = new Registry({
    storage,
    clock,
    random: seededRandom(1),
    facts: await loadFacts(),
    authenticate: async () => ({ name: "admin", groups: ["system:masters", "system:authenticated"] }),
    authorizer: { authorize: () => ({ allowed: true, reason: "" }) },
    writeParts: () => {
      loads++;
      return { admission: [] };
    },
  });
  registries.push(registry);
  return registry;
}

const send = (registry: Registry, method: string, target: string, body?: object) =>
  registry.handler(requestOf(method, target, body === undefined ? {} : { body }));

const NAMESPACES = "/api/v1/namespaces";
const namespace = (name: string) => ({ metadata: { name } });

describe("the write side of a registry", () => {
  it("is not needed for gets, lists and discovery, nor for requests that are refused earlier", async () => {
    const registry = await started();
    expect((await send(registry, "GET", NAMESPACES)).status).toBe(200);
    expect((await send(registry, "GET", `${NAMESPACES}/none`)).status).toBe(404);
    expect((await send(registry, "GET", "/apis")).status).toBe(200);
    expect((await send(registry, "POST", `${NAMESPACES}/none`, namespace("none"))).status).toBe(405);
    expect(loads).toBe(0);
  });

  it("is loaded once, by the first of many writes at once", async () => {
    const registry = await started();
    const writes = ["a", "b", "c"].map((name) => send(registry, "POST", NAMESPACES, namespace(name)));
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(loads).toBe(1);
  });

  it("is loaded for a watch, whose bookmarks are empty objects of the kind", async () => {
    const registry = await started();
    const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const { status, body } = await send(registry, "GET", `${NAMESPACES}?${query}`);
    expect(status).toBe(200);
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      const { type, object } = JSON.parse(Buffer.from(chunk).toString());
      expect({ type, spec: object.spec }).toEqual({ type: "BOOKMARK", spec: {} });
      break;
    }
  });

  it("is loaded before custom resources of an earlier start are requested", async () => {
    const crd = {
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Cluster",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    };
    const before = await started();
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    expect((await send(before, "POST", crds, crd)).status).toBe(201);
    const registry = await started();
    await registry.served();
    expect((await send(registry, "GET", "/apis/example.com/v1/things")).status).toBe(200);
  });
});
