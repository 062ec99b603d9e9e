import { area } from "../case.js";
import type { Session } from "../session.js";

const cluster = (groupVersion: string, plural: string): string => `/apis/${groupVersion}/${plural}`;
const ofGroup = (s: Session, groupVersion: string, plural: string): string =>
  `/apis/${groupVersion}/namespaces/${s.namespace}/${plural}`;

/** The server's verdict on the creation of each object. */
async function judged(s: Session, path: string, objects: readonly object[], name = "a"): Promise<void> {
  for (const object of objects) {
    const { status, body } = await s.post(`${path}?dryRun=All`, { metadata: { name }, ...object }, { silent: true });
    s.note("created", status === 201 ? status : body);
  }
}

/** The server's verdict on each change of an existing object. */
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

export const clusterKindCases = area("built-in kinds", {
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

const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const container = { name: "c", image: "i" };

/** The warnings for a new object, or the refusal. */
async function warned(s: Session, path: string, objects: readonly object[]): Promise<void> {
  for (const object of objects) {
    const body = { metadata: { name: "a" }, ...object };
    const reply = await s.post(`${path}?dryRun=All`, body, { silent: true });
    s.note("warnings", [reply.status, reply.headers.warning ?? reply.body.message]);
  }
}

export const warningCases = area("built-in kinds", {
  "warnings of pods": async (s) => {
    const of = (more: object, ...containers: object[]): object => ({
      spec: { containers: containers.length === 0 ? [container] : containers, ...more },
    });
    const selector = { labelSelector: { matchLabels: { a: "b" } } };
    const spread = {
      maxSkew: 1,
      topologyKey: "failure-domain.beta.kubernetes.io/zone",
      whenUnsatisfiable: "ScheduleAnyway",
    };
    const env = (...values: object[]): object => ({ ...container, env: values });
    const old = { key: "beta.kubernetes.io/os", operator: "In", values: ["linux", "-"] };
    await warned(s, pods(s), [
      of({ nodeSelector: { "beta.kubernetes.io/arch": "x" } }),
      of({ topologySpreadConstraints: [spread, { ...spread, ...selector, whenUnsatisfiable: "DoNotSchedule" }] }),
      of({ imagePullSecrets: [{ name: "a" }, { name: "a" }, {}] }),
      of({ hostAliases: [{ ip: "1.2.3.4" }, { ip: "1.2.3.4" }] }),
      of({ terminationGracePeriodSeconds: -1 }),
      of({
        volumes: [
          { name: "v", rbd: { monitors: ["m"], image: "i" } },
          { name: "w", gitRepo: { repository: "r" } },
        ],
      }),
      of(
        {},
        env(
          { name: "A", value: "1" },
          { name: "A", value: "2" },
          { name: "A", value: "$(A)3" },
          { name: "A", value: "$(A)" },
        ),
      ),
      of({}, { ...container, resources: { requests: { memory: "100m" }, limits: { memory: "1.5", cpu: "100m" } } }),
      of({}, { ...container, resources: { requests: { memory: "0.5Gi" } } }),
      of({}, { ...container, ports: [{ containerPort: 80, name: "a" }, { containerPort: 80 }] }),
      of(
        {},
        { ...container, ports: [{ containerPort: 80, name: "a" }] },
        { ...container, name: "d", ports: [{ containerPort: 80, hostPort: 81, name: "a" }] },
      ),
      of({
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [old] } }],
          },
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "k" }] },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "k" } }],
          },
        },
      }),
      { ...of({}), metadata: { name: "a.b", annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "" } } },
    ]);
  },
  "warnings of templates": async (s) => {
    const template = {
      metadata: { labels: { a: "b" } },
      spec: { containers: [container], nodeSelector: { "beta.kubernetes.io/os": "x" } },
    };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    for (const plural of ["deployments", "replicasets", "statefulsets", "daemonsets"]) {
      await warned(s, ofGroup(s, "apps/v1", plural), [{ spec }, { spec: { ...spec, revisionHistoryLimit: 0 } }]);
    }
    const job = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } };
    await warned(s, ofGroup(s, "batch/v1", "jobs"), [{ spec: job }]);
    await warned(s, ofGroup(s, "batch/v1", "cronjobs"), [
      { spec: { schedule: "* * * * *", jobTemplate: { spec: job } } },
    ]);
    const at = `${ofGroup(s, "apps/v1", "deployments")}/d`;
    await s.post(
      ofGroup(s, "apps/v1", "deployments"),
      { metadata: { name: "d" }, spec: { ...spec, replicas: 0 } },
      { silent: true },
    );
    for (const change of [{ metadata: { labels: { x: "y" } } }, { spec: { paused: true } }]) {
      const { status, headers } = await s.patch("merge", at, change, { silent: true });
      s.note("changed", [status, headers.warning]);
    }
  },
  "warnings of services and storage": async (s) => {
    const ports = [{ port: 80 }];
    await warned(s, `/api/v1/namespaces/${s.namespace}/services`, [
      { spec: { ports, externalIPs: ["1.2.3.4"] } },
      { spec: { ports, clusterIP: "None", externalIPs: ["1.2.3.4"], sessionAffinity: "ClientIP" } },
      { spec: { ports, externalName: "a.b" } },
      { spec: { ports, trafficDistribution: "PreferClose" } },
    ]);
    const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], nfs: { server: "n", path: "/" } };
    const annotations = {
      "volume.beta.kubernetes.io/storage-class": "x",
      "volume.beta.kubernetes.io/mount-options": "y",
    };
    await warned(s, "/api/v1/persistentvolumes", [
      { spec: volume, metadata: { name: "a", annotations } },
      { spec: { ...volume, persistentVolumeReclaimPolicy: "Recycle" } },
    ]);
    const claim = {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1500m" } },
      storageClassName: "x",
    };
    await warned(s, `/api/v1/namespaces/${s.namespace}/persistentvolumeclaims`, [{ spec: claim }]);
    await warned(s, cluster("storage.k8s.io/v1", "csidrivers"), [{ spec: { tokenRequests: [{ audience: "a" }] } }]);
    await warned(s, ofGroup(s, "discovery.k8s.io/v1", "endpointslices"), [
      { addressType: "FQDN", endpoints: [{ addresses: ["a.b"] }] },
    ]);
  },
  "warnings and refusals of new pods and jobs": async (s) => {
    const of = (more: object, extra: object = {}): object => ({
      spec: { containers: [{ ...container, ...extra }], ...more },
    });
    await warned(s, pods(s), [
      of({ schedulingGates: [{ name: "a" }, { name: "a" }] }),
      of({ schedulingGates: [{ name: "a" }], nodeName: "n" }),
      of({ ephemeralContainers: [{ name: "e", image: "i" }] }),
      of({}, { lifecycle: { preStop: { sleep: { seconds: -1 } }, postStart: { sleep: { seconds: 31 } } } }),
      of({ terminationGracePeriodSeconds: 5 }, { lifecycle: { preStop: { sleep: { seconds: 5 } } } }),
    ]);
    const template = { spec: { restartPolicy: "Never", containers: [container] } };
    const labelled = { ...template, metadata: { labels: { a: "b" } } };
    const { status, body } = await s.post(
      `${ofGroup(s, "batch/v1", "jobs")}?dryRun=All`,
      { metadata: { name: "a" }, spec: { selector: { matchLabels: { a: "b" } }, template: labelled } },
      { silent: true },
    );
    s.note("job", [status, body.details?.causes?.map(({ field }: { field: string }) => field)]);
  },
});
