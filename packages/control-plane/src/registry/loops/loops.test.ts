import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

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

  it("keeps a dependent that has another owner, and removes the reference", async () => {
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

  /** Adds an owner to an existing object. */
  const own = (name: string, owner: Owner) =>
    plane.request("PATCH", `${CONFIG_MAPS}/${name}`, {
      contentType: "application/merge-patch+json",
      body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", ...owner }] } },
    });

  it("deletes a cycle of objects that block each other in the foreground, like the real one [R0]", async () => {
    const a = await configMap("a");
    const b = await configMap("b", [{ name: "a", uid: a, blockOwnerDeletion: true }]);
    const c = await configMap("c", [{ name: "b", uid: b, blockOwnerDeletion: true }]);
    await own("a", { name: "c", uid: c, blockOwnerDeletion: true });
    await plane.request("DELETE", `${CONFIG_MAPS}/a`, deletion("Foreground"));
    expect(await names()).toEqual([]);
  });

  it("stays responsive while an unresolvable cycle waits, and deletes it once it is resolved [R0]", async () => {
    const a = await configMap("a");
    const b = await configMap("b", [{ name: "a", uid: a, blockOwnerDeletion: true }], ["foregroundDeletion"]);
    await own("a", { name: "b", uid: b, blockOwnerDeletion: true });
    // Both wait for their dependents before the collector handles either of them.
    await Promise.all(
      ["a", "b"].map((name) => plane.request("DELETE", `${CONFIG_MAPS}/${name}`, deletion("Foreground"))),
    );
    await names();
    await own("a", { name: "b", uid: b, blockOwnerDeletion: false });
    await own("b", { name: "a", uid: a, blockOwnerDeletion: false });
    expect(await names()).toEqual([]);
  });

  it("deletes an owner once a dependent no longer blocks it", async () => {
    const uid = await configMap("owner");
    await configMap("child", [{ name: "owner", uid, blockOwnerDeletion: true }], ["example.com/hold"]);
    await plane.request("DELETE", `${CONFIG_MAPS}/owner`, deletion("Foreground"));
    expect(await names()).toEqual(["child", "owner"]);
    await own("child", { name: "owner", uid, blockOwnerDeletion: false });
    expect(await names()).toEqual(["child"]);
  });

  it("deletes an object whose owner never existed", async () => {
    await configMap("child", [{ name: "nobody", uid: "00000000-0000-4000-8000-000000000000" }]);
    expect(await names()).toEqual([]);
  });

  it("keeps an object whose owner is of a kind that is not served", async () => {
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

  it("waits for finalizers and reports it", async () => {
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

  const PODS = "/api/v1/namespaces/default/pods";
  const pod = (name: string, spec: object = {}, finalizers: readonly string[] = []) =>
    plane.request("POST", PODS, {
      body: { metadata: { name, finalizers }, spec: { containers: [{ name: "main", image: "one" }], ...spec } },
    });
  const conditions = async (): Promise<readonly object[]> => {
    await plane.clock.settle();
    const { body } = await plane.request("GET", "/api/v1/namespaces/default");
    return body.status.conditions;
  };
  const ok = (type: string, reason: string) => ({ type, status: "False", reason });

  it("deletes pods before anything else, and reports them like the real controller", async () => {
    await configMap("kept");
    await pod("held", {}, ["example.com/hold"]);
    await plane.request("DELETE", "/api/v1/namespaces/default");
    expect(await conditions()).toMatchObject([
      ok("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered"),
      ok("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions"),
      ok("NamespaceDeletionContentFailure", "ContentDeleted"),
      ok("NamespaceContentRemaining", "ContentRemoved"),
      ok("NamespaceFinalizersRemaining", "ContentHasNoFinalizers"),
    ]);
    expect((await plane.request("GET", `${PODS}/held`)).body.metadata.deletionTimestamp).toBeDefined();
    expect(await names()).toEqual(["kept"]);
    await plane.request("PATCH", `${PODS}/held`, {
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    });
    expect(await names()).toEqual([]);
    expect((await plane.request("GET", "/api/v1/namespaces/default")).status).toBe(404);
  });

  it("reports pods whose grace period is over in its conditions and not in the log", async () => {
    await pod("stuck", { nodeName: "lost", terminationGracePeriodSeconds: 20 });
    await plane.request("DELETE", "/api/v1/namespaces/default");
    expect(await conditions()).toContainEqual(
      expect.objectContaining({ type: "NamespaceDeletionContentFailure", status: "False" }),
    );
    await plane.clock.advance(40_000);
    expect(await conditions()).toContainEqual(
      expect.objectContaining({
        type: "NamespaceDeletionContentFailure",
        status: "True",
        reason: "ContentDeletionFailed",
        message:
          "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: default for gvr: /v1, Resource=pods",
      }),
    );
    await plane.request("DELETE", `${PODS}/stuck`, { body: { gracePeriodSeconds: 0 } });
    await plane.clock.advance(60_000);
    expect((await plane.request("GET", "/api/v1/namespaces/default")).status).toBe(404);
    expect(plane.logged).toEqual([]);
  });

  it("restores its own conditions, and leaves those of others", async () => {
    await configMap("held", [], ["example.com/hold"]);
    await plane.request("DELETE", "/api/v1/namespaces/default");
    const before = await conditions();
    const other = { type: "example.com/Other", status: "True", reason: "Mine", message: "of others" };
    const changed = before.map((each) => ({ ...each, reason: "Wrong" }));
    await plane.request("PATCH", "/api/v1/namespaces/default/status", {
      contentType: "application/merge-patch+json",
      body: { status: { conditions: [...changed, other] } },
    });
    const after = await conditions();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toMatchObject(other);
  });
});

describe("the server's own loops", () => {
  const merge = (path: string, body: object) =>
    plane.request("PATCH", path, { contentType: "application/merge-patch+json", body });
  const read = async (path: string) => {
    await plane.clock.advance(60_000);
    return (await plane.request("GET", path)).body;
  };

  it("restore a quota's status after somebody has changed it", async () => {
    const quotas = "/api/v1/namespaces/default/resourcequotas";
    await configMap("a");
    await plane.request("POST", quotas, { body: { metadata: { name: "q" }, spec: { hard: { configmaps: "5" } } } });
    const right = { hard: { configmaps: "5" }, used: { configmaps: "1" } };
    expect((await read(`${quotas}/q`)).status).toEqual(right);
    await merge(`${quotas}/q/status`, { status: { hard: { configmaps: "9", pods: "1" }, used: { configmaps: "7" } } });
    expect((await plane.request("GET", `${quotas}/q`)).body.status).not.toEqual(right);
    expect((await read(`${quotas}/q`)).status).toEqual(right);
    await merge(`${quotas}/q/status`, { status: null });
    expect((await read(`${quotas}/q`)).status).toEqual(right);
    const { revision } = plane.storage;
    await plane.clock.advance(3_600_000);
    expect(plane.storage.revision).toBe(revision);
  });

  it("restore the protection of claims, volumes and their classes", async () => {
    const places = {
      "/api/v1/namespaces/default/persistentvolumeclaims": {
        kubernetes: "pvc-protection",
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
      "/api/v1/persistentvolumes": {
        kubernetes: "pv-protection",
        spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/data" } },
      },
    };
    for (const [path, { kubernetes, spec }] of Object.entries(places)) {
      await plane.request("POST", path, { body: { metadata: { name: "a", finalizers: ["example.com/own"] }, spec } });
      const { metadata } = await read(`${path}/a`);
      expect(metadata.finalizers).toEqual(["example.com/own", `kubernetes.io/${kubernetes}`]);
      await merge(`${path}/a`, { metadata: { finalizers: null } });
      expect((await read(`${path}/a`)).metadata.finalizers).toEqual([`kubernetes.io/${kubernetes}`]);
      await plane.request("DELETE", `${path}/a`);
      expect((await read(`${path}/a`)).reason).toBe("NotFound");
    }
  });

  it("restore the status of a CRD and its APIService", async () => {
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const schema = { openAPIV3Schema: { type: "object" } };
    await plane.request("POST", crds, {
      body: {
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: "widgets", kind: "Widget" },
          versions: [{ name: "v1", served: true, storage: true, schema }],
        },
      },
    });
    const service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com";
    const [before, registered] = [await read(`${crds}/widgets.example.com`), await read(service)];
    const wrong = before.status.conditions.map((each: object) => ({ ...each, status: "False", reason: "Wrong" }));
    const names = { plural: "wrong", kind: "Wrong" };
    await merge(`${crds}/widgets.example.com/status`, { status: { conditions: wrong, acceptedNames: names } });
    const after = await read(`${crds}/widgets.example.com`);
    expect(after.status.acceptedNames).toEqual(before.status.acceptedNames);
    expect(after.status.conditions.map(({ type, status }: { type: string; status: string }) => [type, status])).toEqual(
      [
        ["NamesAccepted", "True"],
        ["Established", "True"],
      ],
    );
    await merge(service, { spec: { groupPriorityMinimum: 7, versionPriority: 7 } });
    await merge(`${service}/status`, { status: { conditions: [] } });
    const { spec, status } = await read(service);
    expect(spec).toEqual(registered.spec);
    expect(status.conditions).toMatchObject([{ type: "Available", status: "True", reason: "Local" }]);
  });
});
