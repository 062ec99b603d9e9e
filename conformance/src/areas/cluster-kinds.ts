import { area } from "../case.js";
import type { Session } from "../session.js";

const cluster = (groupVersion: string, plural: string): string => `/apis/${groupVersion}/${plural}`;
const ofGroup = (s: Session, groupVersion: string, plural: string): string =>
  `/apis/${groupVersion}/namespaces/${s.namespace}/${plural}`;

/** How the server judges each object that is to be created. */
async function judged(s: Session, path: string, objects: readonly object[], name = "a"): Promise<void> {
  for (const object of objects) {
    const { status, body } = await s.post(`${path}?dryRun=All`, { metadata: { name }, ...object }, { silent: true });
    s.note("created", status === 201 ? status : body);
  }
}

/** How the server judges each change of an object that exists while the case lasts. */
async function changed(
  s: Session,
  path: string,
  object: object,
  changes: readonly object[],
  name = `conformance-${s.namespace}`,
): Promise<void> {
  await s.post(path, { ...object, metadata: { name } }, { silent: true });
  for (const change of changes) {
    const at = `${path}/${name}?dryRun=All`;
    const { status, body } = await s.patch("merge", at, change, { silent: true });
    const shown = JSON.parse(JSON.stringify(body).replaceAll(name, "<name>")) as unknown;
    s.note("changed", status === 200 ? status : shown);
  }
  await s.delete(`${path}/${name}`, undefined, { silent: true });
}

export const clusterKindCases = area("cluster kinds", {
  "drivers of storage": async (s) => {
    const path = cluster("storage.k8s.io/v1", "csidrivers");
    await judged(s, path, [
      { spec: {} },
      { spec: { fsGroupPolicy: "Some" } },
      { spec: { tokenRequests: [{ audience: "a" }, { audience: "a" }] } },
      {
        spec: {
          tokenRequests: [
            { audience: "a", expirationSeconds: 5 },
            { audience: "b", expirationSeconds: 2 ** 33 },
          ],
        },
      },
      { spec: { volumeLifecycleModes: ["Often", "Ephemeral"] } },
      { spec: { nodeAllocatableUpdatePeriodSeconds: 5 } },
      { spec: { serviceAccountTokenInSecrets: true } },
      { metadata: { name: "A_b" }, spec: {} },
    ]);
    await changed(s, path, { spec: { attachRequired: true } }, [
      { spec: { attachRequired: false } },
      { spec: { volumeLifecycleModes: ["Ephemeral"] } },
      { spec: { podInfoOnMount: true } },
    ]);
  },
  "nodes of storage": async (s) => {
    const path = cluster("storage.k8s.io/v1", "csinodes");
    const driver = { name: "d.e", nodeID: "n" };
    await judged(s, path, [
      { spec: { drivers: [] } },
      { spec: { drivers: [driver, driver] } },
      { spec: { drivers: [{ name: "-d", nodeID: "" }] } },
      { spec: { drivers: [{ name: "", nodeID: "x".repeat(257) }] } },
      { spec: { drivers: [{ ...driver, allocatable: { count: -1 } }] } },
      { spec: { drivers: [{ ...driver, topologyKeys: ["a", "a", "", "-"] }] } },
    ]);
    await changed(s, path, { spec: { drivers: [driver] } }, [
      { spec: { drivers: [{ ...driver, nodeID: "m" }] } },
      { spec: { drivers: [{ ...driver, allocatable: { count: 3 } }] } },
      { spec: { drivers: [{ name: "f.g", nodeID: "m" }] } },
    ]);
  },
  "capacities of storage": async (s) => {
    const path = ofGroup(s, "storage.k8s.io/v1", "csistoragecapacities");
    await judged(s, path, [
      { storageClassName: "x" },
      { storageClassName: "" },
      { storageClassName: "X_", capacity: "-1Gi" },
      { storageClassName: "x", nodeTopology: { matchExpressions: [{ key: "a", operator: "Often" }] } },
    ]);
    await changed(s, path, { storageClassName: "x", capacity: "1Gi" }, [
      { storageClassName: "y" },
      { nodeTopology: { matchLabels: { a: "b" } } },
      { capacity: "2Gi" },
    ]);
  },
  "attachments of volumes": async (s) => {
    const path = cluster("storage.k8s.io/v1", "volumeattachments");
    const spec = { attacher: "a.b", nodeName: "n", source: { persistentVolumeName: "v" } };
    await judged(s, path, [
      { spec },
      { spec: { ...spec, attacher: "" } },
      { spec: { ...spec, attacher: "A_" } },
      { spec: { ...spec, source: {} } },
      { spec: { ...spec, source: { persistentVolumeName: "V_" } } },
      { spec: { ...spec, nodeName: "N_" } },
    ]);
    await changed(s, path, { spec }, [{ metadata: { labels: { a: "b" } } }]);
  },
  "classes of attributes": async (s) => {
    const path = cluster("storage.k8s.io/v1", "volumeattributesclasses");
    await judged(s, path, [
      { driverName: "d", parameters: { k: "v" } },
      { driverName: "d" },
      { driverName: "", parameters: { k: "v" } },
      { driverName: "-d", parameters: { "": "v" } },
    ]);
    await changed(s, path, { driverName: "d", parameters: { k: "v" } }, [
      { driverName: "e" },
      { parameters: { k: "w" } },
      { metadata: { labels: { a: "b" } } },
    ]);
  },
  "classes of runtimes": async (s) => {
    const path = cluster("node.k8s.io/v1", "runtimeclasses");
    const toleration = { key: "a", operator: "Exists" };
    await judged(s, path, [
      { handler: "h" },
      { handler: "" },
      { handler: "H_" },
      { handler: "h", overhead: { podFixed: { cpu: "-1" } } },
      { handler: "h", overhead: { podFixed: { cpu: "1", "bad_!": "1" } } },
      { handler: "h", scheduling: { nodeSelector: { "-": "x" } } },
      { handler: "h", scheduling: { tolerations: [toleration, { operator: "Equal" }, toleration] } },
    ]);
    await changed(s, path, { handler: "h" }, [{ handler: "i" }, { metadata: { labels: { a: "b" } } }]);
  },
  "revisions of controllers": async (s) => {
    const path = ofGroup(s, "apps/v1", "controllerrevisions");
    await judged(s, path, [
      { revision: 1, data: { a: 1 } },
      { revision: 1 },
      { revision: 1, data: null },
      { revision: 1, data: [] },
      { revision: 1, data: "x" },
      { revision: -1, data: {} },
    ]);
    await changed(s, path, { revision: 1, data: { a: 1 } }, [{ revision: 2 }, { revision: -2 }]);
  },
  "addresses and their ranges": async (s) => {
    const addresses = cluster("networking.k8s.io/v1", "ipaddresses");
    const parentRef = { resource: "services", name: "x", namespace: "n" };
    await judged(s, addresses, [{ spec: { parentRef } }, { spec: {} }]);
    await judged(
      s,
      addresses,
      [
        { spec: { parentRef } },
        { spec: {} },
        { spec: { parentRef: { resource: "", name: "" } } },
        { spec: { parentRef: { group: "G_", resource: "a/b", name: "a%b", namespace: ".." } } },
      ],
      "10.200.0.9",
    );
    const ranges = cluster("networking.k8s.io/v1", "servicecidrs");
    await judged(s, ranges, [
      { spec: { cidrs: ["10.200.0.0/24"] } },
      { spec: {} },
      { spec: { cidrs: ["a", "b"] } },
      { spec: { cidrs: ["10.200.0.0/24", "10.201.0.0/24"] } },
      { spec: { cidrs: ["10.200.0.0/24", "fd00::/112"] } },
    ]);
  },
});
