import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../test-plane.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(async () => {
  await plane[Symbol.asyncDispose]();
});

interface Owner {
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

async function configMap(
  name: string,
  owners: readonly Owner[] = [],
  finalizers: readonly string[] = [],
): Promise<string> {
  const ownerReferences = owners.map((owner) => ({ apiVersion: "v1", kind: "ConfigMap", ...owner }));
  const { body } = await plane.request("POST", CONFIG_MAPS, {
    body: { metadata: { name, ownerReferences, finalizers } },
  });
  return body.metadata.uid;
}

async function names(): Promise<readonly string[]> {
  await plane.clock.settle();
  const { body } = await plane.request("GET", CONFIG_MAPS);
  return body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
}

const deletion = (propagationPolicy: string) => ({ body: { propagationPolicy } });

describe("garbage collection", () => {
  it("deletes dependents after their owner in the background", async () => {
    const uid = await configMap("owner");
    const child = await configMap("child", [{ name: "owner", uid }]);
    await configMap("grandchild", [{ name: "child", uid: child }]);
    await configMap("other");
    await plane.request("DELETE", `${CONFIG_MAPS}/owner`, deletion("Background"));
    expect(await names()).toEqual(["other"]);
  });

  it("keeps a dependent that has another owner, and takes the reference off", async () => {
    const first = await configMap("first");
    const second = await configMap("second");
    await configMap("child", [
      { name: "first", uid: first },
      { name: "second", uid: second },
    ]);
    await plane.request("DELETE", `${CONFIG_MAPS}/first`, deletion("Background"));
    expect(await names()).toEqual(["child", "second"]);
    const { body } = await plane.request("GET", `${CONFIG_MAPS}/child`);
    expect(body.metadata.ownerReferences).toMatchObject([{ name: "second" }]);
    const [{ fieldsV1 }] = body.metadata.managedFields;
    expect(Object.keys(fieldsV1["f:metadata"]["f:ownerReferences"])).toEqual([".", `k:{"uid":"${second}"}`]);
  });

  it("orphans dependents on request", async () => {
    const uid = await configMap("owner");
    await configMap("child", [{ name: "owner", uid }]);
    const deleted = await plane.request("DELETE", `${CONFIG_MAPS}/owner`, deletion("Orphan"));
    expect(deleted.body.metadata).toMatchObject({ finalizers: ["orphan"], deletionGracePeriodSeconds: 0 });
    expect(await names()).toEqual(["child"]);
    const { body } = await plane.request("GET", `${CONFIG_MAPS}/child`);
    expect(body.metadata).not.toHaveProperty("ownerReferences");
  });

  it("deletes dependents before their owner in the foreground", async () => {
    const uid = await configMap("owner");
    await configMap("child", [{ name: "owner", uid, blockOwnerDeletion: true }], ["example.com/hold"]);
    const deleted = await plane.request("DELETE", `${CONFIG_MAPS}/owner`, deletion("Foreground"));
    expect(deleted.body.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect(await names()).toEqual(["child", "owner"]);
    const child = await plane.request("GET", `${CONFIG_MAPS}/child`);
    expect(child.body.metadata.deletionTimestamp).toBeDefined();
    await plane.request("PATCH", `${CONFIG_MAPS}/child`, {
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    });
    expect(await names()).toEqual([]);
  });

  it("does not wait in the foreground for dependents that do not block", async () => {
    const uid = await configMap("owner");
    await configMap("child", [{ name: "owner", uid }], ["example.com/hold"]);
    await plane.request("DELETE", `${CONFIG_MAPS}/owner`, deletion("Foreground"));
    expect(await names()).toEqual(["child"]);
  });

  it("deletes an object whose owner was never there", async () => {
    await configMap("child", [{ name: "nobody", uid: "00000000-0000-4000-8000-000000000000" }]);
    expect(await names()).toEqual([]);
  });

  it("keeps an object whose owner is of a kind that nobody serves", async () => {
    const ownerReferences = [{ apiVersion: "example.com/v1", kind: "Unknown", name: "a", uid: "b" }];
    await plane.request("POST", CONFIG_MAPS, { body: { metadata: { name: "child", ownerReferences } } });
    expect(await names()).toEqual(["child"]);
  });
});

describe("deletion of a namespace", () => {
  beforeEach(async () => {
    await plane.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "default" } } });
  });

  it("removes its content, then the namespace", async () => {
    await configMap("a");
    await configMap("b");
    const deleted = await plane.request("DELETE", "/api/v1/namespaces/default");
    expect(deleted.body).toMatchObject({ kind: "Namespace", status: { phase: "Terminating" } });
    expect(deleted.body.metadata).not.toHaveProperty("deletionGracePeriodSeconds");
    expect(await names()).toEqual([]);
    expect((await plane.request("GET", "/api/v1/namespaces/default")).status).toBe(404);
  });

  it("waits for finalizers and says so", async () => {
    await configMap("held", [], ["example.com/hold"]);
    await plane.request("DELETE", "/api/v1/namespaces/default");
    expect(await names()).toEqual(["held"]);
    const { body } = await plane.request("GET", "/api/v1/namespaces/default");
    expect(body.status.conditions).toMatchObject([
      { type: "NamespaceDeletionDiscoveryFailure", status: "False" },
      { type: "NamespaceDeletionGroupVersionParsingFailure", status: "False" },
      { type: "NamespaceDeletionContentFailure", status: "False" },
      {
        type: "NamespaceContentRemaining",
        status: "True",
        reason: "SomeResourcesRemain",
        message: "Some resources are remaining: configmaps. has 1 resource instances",
      },
      {
        type: "NamespaceFinalizersRemaining",
        status: "True",
        reason: "SomeFinalizersRemain",
        message: "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
      },
    ]);
    await plane.request("PATCH", `${CONFIG_MAPS}/held`, {
      contentType: "application/json-patch+json",
      body: [{ op: "remove", path: "/metadata/finalizers" }],
    });
    await plane.clock.settle();
    expect((await plane.request("GET", "/api/v1/namespaces/default")).status).toBe(404);
  });
});
