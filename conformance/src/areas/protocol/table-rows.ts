import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";

const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };

const core = (s: Session, plural: string): string => `/api/v1/namespaces/${s.namespace}/${plural}`;
const ofGroup = (s: Session, groupVersion: string, plural: string): string =>
  `/apis/${groupVersion}/namespaces/${s.namespace}/${plural}`;
const cluster = (groupVersion: string, plural: string): string => `/apis/${groupVersion}/${plural}`;

/** The table row of each object, in dry run. */
async function rows(s: Session, path: string, objects: readonly object[]): Promise<void> {
  for (const [index, object] of objects.entries()) {
    const metadata = { name: `a${index}`, ...(object as Body).metadata };
    const reply = await s.post(`${path}?dryRun=All`, { ...object, metadata }, { headers: asTable, silent: true });
    s.note(`row ${index}`, { cells: reply.body.rows?.[0].cells ?? reply.body });
  }
}

/** The table row of an object, with its conditions, after each of these statuses. */
async function rowsWithStatus(s: Session, path: string, object: object, statuses: readonly object[]): Promise<void> {
  await s.post(path, { metadata: { name: "a" }, ...object }, { silent: true });
  for (const [index, status] of statuses.entries()) {
    const at = `${path}/a/status`;
    await s.patch("merge", at, { status: null }, { silent: true });
    const reply = await s.patch("merge", at, { status }, { headers: asTable, silent: true });
    const { cells, conditions } = reply.body.rows?.[0] ?? { cells: reply.body };
    s.note(`row ${index}`, { cells, conditions });
  }
}

const container = { name: "c", image: "i" };
const ended = (exitCode: number, more: object = {}): object => ({ state: { terminated: { exitCode, ...more } } });
const waiting = (reason: string): object => ({ state: { waiting: { reason } } });
const running = { state: { running: {} }, ready: true };
const status = (name: string, more: object): object => ({ name, image: "i", imageID: "", restartCount: 0, ...more });

export const tableRowCases = area("table rows", {
  "of pods by their containers": async (s) => {
    const spec = { containers: [container, { name: "d", image: "j" }], readinessGates: [{ conditionType: "x/y" }] };
    const of = (c: object, d: object): object => ({
      phase: "Running",
      containerStatuses: [status("c", c), status("d", d)],
    });
    const ready = { conditions: [{ type: "Ready", status: "True" }] };
    await rowsWithStatus(s, core(s, "pods"), { spec }, [
      { phase: "Pending" },
      { phase: "Failed", reason: "Evicted" },
      { phase: "Succeeded" },
      { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
      {
        phase: "Running",
        conditions: [{ type: "x/y", status: "True" }],
        podIP: "10.1.1.1",
        podIPs: [{ ip: "10.1.1.1" }],
      },
      of(running, running),
      of(waiting("ImagePullBackOff"), running),
      of(ended(0, { reason: "Completed" }), running),
      { ...of(ended(0, { reason: "Completed" }), running), ...ready },
      of(ended(0, { reason: "Completed" }), ended(3)),
      of(ended(0, { signal: 9 }), ended(0)),
      of({ ...running, restartCount: 3 }, { restartCount: 2 }),
      of({ state: { running: {} }, ready: false }, {}),
    ]);
  },
  "of pods by their init containers": async (s) => {
    const spec = {
      initContainers: [
        { ...container, name: "x" },
        { ...container, name: "y", restartPolicy: "Always" },
      ],
      containers: [container],
    };
    const of = (x: object, y: object, c: object = { state: {} }): object => ({
      phase: "Pending",
      initContainerStatuses: [status("x", x), status("y", y)],
      containerStatuses: [status("c", c)],
    });
    const started = { ...running, started: true };
    await rowsWithStatus(s, core(s, "pods"), { spec }, [
      of({ state: { running: {} } }, {}),
      of(waiting("PodInitializing"), {}),
      of(waiting("CrashLoopBackOff"), {}),
      of({ ...ended(1), restartCount: 4 }, {}),
      of(ended(2, { reason: "Error" }), {}),
      of(ended(137, { signal: 9 }), {}),
      of(ended(0), { state: { running: {} }, started: false, restartCount: 2 }),
      of({ ...ended(0), restartCount: 5 }, { ...started, restartCount: 2 }, running),
      of(ended(0), { ...started, ready: false }, waiting("ContainerCreating")),
      { ...of(ended(0), waiting("CrashLoopBackOff"), running), conditions: [{ type: "Initialized", status: "True" }] },
    ]);
  },
  "of endpoints and their slices": async (s) => {
    const subset = (ips: readonly string[], ports: readonly object[]): object => ({
      addresses: ips.map((ip) => ({ ip })),
      ports,
    });
    await rows(s, core(s, "endpoints"), [
      {},
      {
        subsets: [
          subset(
            ["1.2.3.4", "1.2.3.5"],
            [
              { name: "a", port: 80 },
              { name: "b", port: 81 },
            ],
          ),
        ],
      },
      { subsets: [subset(["1.2.3.4"], []), subset(["::5"], [{ port: 80 }])] },
      { subsets: [{ notReadyAddresses: [{ ip: "1.2.3.4" }], ports: [{ port: 1 }] }] },
    ]);
    const of = (...addresses: string[]): object[] => addresses.map((address) => ({ addresses: [address] }));
    await rows(s, ofGroup(s, "discovery.k8s.io/v1", "endpointslices"), [
      { addressType: "IPv4", endpoints: [] },
      { addressType: "IPv4", endpoints: of("1.2.3.4", "1.2.3.5", "1.2.3.6", "1.2.3.7"), ports: [{ port: 1 }] },
      { addressType: "IPv6", endpoints: of("::1"), ports: ["a", "b", "c", "d"].map((name) => ({ name })) },
    ]);
  },
  "of services and what leads to them": async (s) => {
    await rows(s, core(s, "services"), [
      { spec: { type: "ExternalName", externalName: "a.b" } },
      { spec: { clusterIP: "None", selector: { b: "c", a: "b" } } },
    ]);
    const balancer = { spec: { type: "ExternalName", externalName: "a.b" } };
    await rowsWithStatus(s, core(s, "services"), balancer, [{}]);
    const rules = (...hosts: (string | undefined)[]): object => ({
      rules: hosts.map((host) => (host === undefined ? {} : { host })),
      defaultBackend: { service: { name: "a", port: { number: 1 } } },
    });
    await rows(s, ofGroup(s, "networking.k8s.io/v1", "ingresses"), [
      { spec: rules() },
      { spec: { ...rules("a.com", "b.com", "c.com"), tls: [{}], ingressClassName: "x" } },
      { spec: rules("a.com", undefined, "b.com", "c.com", undefined) },
      { spec: rules("a.com", "b.com", "c.com", "d.com", "e.com") },
    ]);
    const ingress = [{ ip: "9.2.3.4" }, { hostname: "a.example.com" }, { ip: "1.2.3.4" }];
    await rowsWithStatus(s, ofGroup(s, "networking.k8s.io/v1", "ingresses"), { spec: rules() }, [
      { loadBalancer: { ingress } },
    ]);
    const expressions = [
      { key: "z", operator: "In", values: ["c", "b"] },
      { key: "b", operator: "Exists" },
      { key: "q", operator: "DoesNotExist" },
      { key: "y", operator: "NotIn", values: ["x"] },
    ];
    await rows(s, ofGroup(s, "networking.k8s.io/v1", "networkpolicies"), [
      { spec: { podSelector: {} } },
      { spec: { podSelector: { matchLabels: { m: "n" }, matchExpressions: expressions } } },
    ]);
    await rows(s, cluster("networking.k8s.io/v1", "ingressclasses"), [
      { spec: { controller: "a.b/c" } },
      { spec: { controller: "a.b/c", parameters: { kind: "P", name: "n" } } },
      {
        metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
        spec: { controller: "a.b/c", parameters: { apiGroup: "k8s.example.com", kind: "P", name: "n" } },
      },
    ]);
  },
  "of autoscalers": async (s) => {
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "a/v1", kind: "Foo", name: "bar" } };
    const resource = (target: object): object => ({ type: "Resource", resource: { name: "cpu", target } });
    const other = (type: string, target: object): object => ({
      type,
      [type.toLowerCase()]: { metric: { name: "m" }, target, describedObject: { kind: "A", name: "b" } },
    });
    const average = { type: "AverageValue", averageValue: "100m" };
    const metrics = (...all: object[]): object => ({ spec: { ...spec, metrics: all } });
    await rows(s, ofGroup(s, "autoscaling/v2", "horizontalpodautoscalers"), [
      { spec },
      metrics(resource({ type: "Utilization", averageUtilization: 50 })),
      metrics(resource(average), other("Pods", average)),
      metrics(other("Object", { type: "Value", value: "5" }), other("External", { type: "Value", value: "2k" })),
      metrics(other("Object", average), other("External", average), resource(average)),
    ]);
    await rows(s, ofGroup(s, "autoscaling/v1", "horizontalpodautoscalers"), [
      { spec: { ...spec, minReplicas: 2, targetCPUUtilizationPercentage: 70 } },
    ]);
  },
  "of quotas, templates and revisions": async (s) => {
    const hard = { "requests.cpu": "1", "limits.cpu": "2", pods: "10", "count/secrets": "100" };
    await rowsWithStatus(s, core(s, "resourcequotas"), { spec: {} }, [{}, { hard, used: { pods: "3" } }]);
    const template = { metadata: { labels: { b: "c", a: "b" } }, spec: { containers: [container] } };
    await rows(s, core(s, "podtemplates"), [{ template }, { template: { spec: template.spec } }]);
    await rows(s, core(s, "replicationcontrollers"), [{ spec: { template } }]);
    const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "x", uid: "u", controller: true };
    await rows(s, ofGroup(s, "apps/v1", "controllerrevisions"), [
      { revision: 3, data: {} },
      { revision: 4, data: {}, metadata: { ownerReferences: [owner] } },
      { revision: 4, data: {}, metadata: { ownerReferences: [{ ...owner, apiVersion: "v1" }] } },
    ]);
  },
  "of storage": async (s) => {
    const size = { resources: { requests: { storage: "1Gi" } }, accessModes: ["ReadWriteOnce"] };
    const old = { metadata: { annotations: { "volume.beta.kubernetes.io/storage-class": "old" } } };
    await rows(s, core(s, "persistentvolumeclaims"), [
      { spec: { ...size, storageClassName: "x" } },
      { spec: { ...size, volumeName: "v", storageClassName: "" } },
    ]);
    const volume = {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadOnlyMany", "ReadWriteOnce"],
      hostPath: { path: "/" },
    };
    await rows(s, "/api/v1/persistentvolumes", [
      { spec: { ...volume, claimRef: { namespace: "n", name: "c" }, storageClassName: "x" } },
      { spec: { ...volume, volumeMode: "Block" }, ...old },
    ]);
    await rows(s, cluster("storage.k8s.io/v1", "storageclasses"), [
      { provisioner: "x" },
      {
        provisioner: "x",
        allowVolumeExpansion: true,
        metadata: { annotations: { "storageclass.beta.kubernetes.io/is-default-class": "true" } },
      },
    ]);
    await rows(s, cluster("storage.k8s.io/v1", "csidrivers"), [
      { spec: {} },
      {
        spec: {
          attachRequired: false,
          podInfoOnMount: true,
          storageCapacity: true,
          requiresRepublish: true,
          tokenRequests: [{ audience: "a" }, { audience: "b" }],
          serviceAccountTokenInSecrets: true,
          volumeLifecycleModes: ["Persistent", "Ephemeral"],
        },
      },
    ]);
    await rows(s, cluster("storage.k8s.io/v1", "csinodes"), [{ spec: { drivers: [{ name: "a", nodeID: "b" }] } }]);
    await rows(s, cluster("storage.k8s.io/v1", "volumeattachments"), [
      { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "v" } } },
    ]);
    await rows(s, cluster("storage.k8s.io/v1", "volumeattributesclasses"), [
      { driverName: "d", parameters: { k: "v" } },
    ]);
    await rows(s, ofGroup(s, "storage.k8s.io/v1", "csistoragecapacities"), [
      { storageClassName: "x", capacity: "1Gi" },
    ]);
  },
  "of admission": async (s) => {
    const group = "admissionregistration.k8s.io/v1";
    const rule = { apiGroups: ["zz"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["zz"] };
    const policy = { matchConstraints: { resourceRules: [rule] }, failurePolicy: "Ignore" };
    await rows(s, cluster(group, "validatingadmissionpolicies"), [
      { spec: { ...policy, validations: [{ expression: "true" }, { expression: "1 == 1" }] } },
      { spec: { ...policy, paramKind: { apiVersion: "v1", kind: "A" }, validations: [{ expression: "true" }] } },
    ]);
    const params = { parameterNotFoundAction: "Allow" };
    const expression = { key: "a", operator: "In", values: ["x", "y"] };
    for (const [plural, actions] of [
      ["validatingadmissionpolicybindings", { validationActions: ["Deny"] }],
      ["mutatingadmissionpolicybindings", {}],
    ] as const) {
      const of = (paramRef?: object): object => ({
        spec: { policyName: "p", ...actions, ...(paramRef && { paramRef }) },
      });
      await rows(s, cluster(group, plural), [
        of(),
        of({ ...params, name: "x" }),
        of({ ...params, name: "x", namespace: "n" }),
        of({ ...params, selector: {} }),
        of({ ...params, selector: { matchLabels: { c: "d", a: "b" }, matchExpressions: [expression] } }),
      ]);
    }
    const mutation = { patchType: "JSONPatch", jsonPatch: { expression: "[]" } };
    await rows(s, cluster(group, "mutatingadmissionpolicies"), [
      { spec: { ...policy, reinvocationPolicy: "Never", mutations: [mutation] } },
    ]);
    await rows(s, cluster(group, "validatingwebhookconfigurations"), [{}]);
  },
  "of small kinds": async (s) => {
    await rows(s, cluster("node.k8s.io/v1", "runtimeclasses"), [{ handler: "h" }]);
    await rows(s, cluster("scheduling.k8s.io/v1", "priorityclasses"), [{ value: 5 }]);
    await rows(s, cluster("resource.k8s.io/v1", "deviceclasses"), [{ spec: {} }]);
    await rows(s, ofGroup(s, "resource.k8s.io/v1", "resourceclaims"), [{ spec: {} }]);
    await rows(s, cluster("resource.k8s.io/v1", "resourceslices"), [
      { spec: { driver: "d.e", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } } },
    ]);
    await rows(s, ofGroup(s, "coordination.k8s.io/v1", "leases"), [{}, { spec: { holderIdentity: "x" } }]);
    await rows(s, cluster("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations"), [
      { spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } },
      { spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } } },
    ]);
    await s.get("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt", { headers: asTable });
    const schemas = await s.get("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", {
      headers: asTable,
      silent: true,
    });
    s.note(
      "order",
      schemas.body.rows.map(({ cells }: Body) => cells.slice(0, 4)),
    );
  },
  "of events": async (s) => {
    const about = (more: object): object => ({ involvedObject: { kind: "Pod", namespace: s.namespace, ...more } });
    await rows(s, core(s, "events"), [
      { ...about({ name: "x", fieldPath: "spec.containers{a}" }), reason: "R", message: " m ", type: "Normal" },
      { ...about({}), count: 5, source: { component: "c", host: "h" } },
      { ...about({ name: "x" }), source: { component: "c" }, reportingInstance: "i", reportingComponent: "r" },
      { ...about({ name: "x" }), reportingInstance: "i", reportingComponent: "r", action: "a" },
    ]);
  },
});
