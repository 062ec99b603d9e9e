import { area } from "../case.js";
import type { Body, Session } from "../session.js";
import { readyNode } from "./workloads/ready-node.js";
import { readyStatus } from "./workloads/transitions.js";

const services = (s: Session): string => `/api/v1/namespaces/${s.namespace}/services`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const slices = (s: Session): string => `/apis/discovery.k8s.io/v1/namespaces/${s.namespace}/endpointslices`;
const endpoints = (s: Session): string => `/api/v1/namespaces/${s.namespace}/endpoints`;

const web = { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };

const create = async (s: Session, spec: object = web, metadata: object = {}): Promise<void> => {
  const reply = await s.post(services(s), { metadata: { name: "web", ...metadata }, spec }, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
};

const nodeName = (s: Session): string => `${s.namespace}-n`;

/** Creates a pod on a node: pods without one are no endpoints. */
const pod = async (s: Session, name: string, more: object = {}): Promise<void> => {
  const containers = [{ name: "main", image: "web", ports: [{ name: "http", containerPort: 9090 }] }];
  await s.post(
    pods(s),
    { metadata: { name, labels: { app: "web" } }, spec: { containers, nodeName: nodeName(s), ...more } },
    { silent: true },
  );
};

const ready = async (s: Session, name: string, ip: string): Promise<void> => {
  await s.patch("merge", `${pods(s)}/${name}/status`, readyStatus(ip), { silent: true });
};

/** The content of slices, without generated names and transition times. */
const shown = (slice: Body): object => ({
  metadata: { labels: slice.metadata.labels, generateName: slice.metadata.generateName },
  owners: slice.metadata.ownerReferences,
  addressType: slice.addressType,
  endpoints: [...(slice.endpoints ?? [])].sort((left: Body, right: Body) =>
    left.addresses[0] < right.addresses[0] ? -1 : 1,
  ),
  ports: byName(slice.ports ?? []),
});

/** The real controllers order ports by a hash. */
const byName = (ports: readonly Body[]): readonly Body[] =>
  [...ports].sort((left, right) => ((left.name ?? "") < (right.name ?? "") ? -1 : 1));

const slicesWhen = async (s: Session, isDone: (all: readonly Body[]) => boolean): Promise<void> => {
  const { body } = await s.until(slices(s), (reply) => isDone(reply.body.items ?? []));
  s.note("slices", (body.items ?? []).map(shown));
};

const endpointsWhen = async (s: Session, isDone: (body: Body) => boolean): Promise<void> => {
  const { body } = await s.until(`${endpoints(s)}/web`, (reply) => isDone(reply.body));
  const subsets = body.subsets?.map((subset: Body) => ({ ...subset, ports: byName(subset.ports ?? []) }));
  s.note("endpoints", { labels: body.metadata?.labels, subsets });
};

const readyCount = (all: readonly Body[]): number =>
  all.flatMap((slice) => slice.endpoints ?? []).filter((endpoint: Body) => endpoint.conditions?.ready).length;

/** With a node for its pods. */
const onNode = (run: (s: Session) => Promise<void>) => async (s: Session) => {
  await using _ = await readyNode(s, "n", {}, { "topology.kubernetes.io/zone": "here" });
  await run(s);
};

export const endpointCases = area("endpoints", {
  "none yet": onNode(async (s) => {
    await create(s, web, { labels: { team: "a" } });
    await slicesWhen(s, (all) => all.length === 1);
    await endpointsWhen(s, (body) => body.metadata?.labels !== undefined);
  }),
  "a pod that is not ready": onNode(async (s) => {
    await create(s);
    await pod(s, "p-1");
    const status = { phase: "Running", podIP: "10.1.1.1", podIPs: [{ ip: "10.1.1.1" }] };
    await s.patch("merge", `${pods(s)}/p-1/status`, { status }, { silent: true });
    await slicesWhen(s, ([slice]) => slice?.endpoints?.length === 1);
    await endpointsWhen(s, (body) => body.subsets?.length === 1);
  }),
  "pods that become ready": onNode(async (s) => {
    await create(s);
    for (const at of [1, 2]) {
      await pod(s, `p-${at}`);
      await ready(s, `p-${at}`, `10.1.1.${at}`);
    }
    await slicesWhen(s, (all) => readyCount(all) === 2);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 2);
  }),
  "a pod that ends": onNode(async (s) => {
    await create(s);
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await s.until(slices(s), ({ body }) => readyCount(body.items) === 1);
    const conditions = [{ type: "Ready", status: "False", reason: "PodCompleted" }];
    await s.patch("merge", `${pods(s)}/p-1/status`, { status: { phase: "Succeeded", conditions } }, { silent: true });
    await slicesWhen(s, (all) => all.length === 1 && readyCount(all) === 0);
    await endpointsWhen(s, (body) => body.metadata !== undefined && !body.subsets);
  }),
  "a port by name": onNode(async (s) => {
    await create(s, { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] });
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  }),
  "a port that no pod has": onNode(async (s) => {
    await create(s, { selector: { app: "web" }, ports: [{ port: 80, targetPort: "metrics" }] });
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
  }),
  "without an address of its own": onNode(async (s) => {
    await create(s, { ...web, clusterIP: "None" });
    await pod(s, "p-1", { hostname: "first", subdomain: "web" });
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  }),
  "addresses that are published before they are ready": onNode(async (s) => {
    await create(s, { ...web, publishNotReadyAddresses: true });
    await pod(s, "p-1");
    const status = { phase: "Running", podIP: "10.1.1.1", podIPs: [{ ip: "10.1.1.1" }] };
    await s.patch("merge", `${pods(s)}/p-1/status`, { status }, { silent: true });
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  }),
  "labels that change": onNode(async (s) => {
    await create(s, web, { labels: { team: "a", other: "x" } });
    await s.until(slices(s), ({ body }) => body.items?.length === 1);
    await s.patch(
      "merge",
      `${services(s)}/web`,
      { metadata: { labels: { team: "b", other: null } } },
      { silent: true },
    );
    await slicesWhen(s, ([slice]) => slice?.metadata.labels.team === "b");
  }),
  "ports that change": onNode(async (s) => {
    await create(s);
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await s.until(slices(s), ({ body }) => readyCount(body.items) === 1);
    const ports = [{ name: "http", port: 80, targetPort: 7070 }];
    await s.patch("merge", `${services(s)}/web`, { spec: { ports } }, { silent: true });
    await slicesWhen(s, (all) => all.length === 1 && all[0].ports?.[0]?.port === 7070);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.ports?.[0]?.port === 7070);
  }),
  "a service that goes": onNode(async (s) => {
    await create(s);
    await s.until(slices(s), ({ body }) => body.items?.length === 1);
    await s.until(`${endpoints(s)}/web`, ({ status }) => status === 200);
    await s.delete(`${services(s)}/web`, undefined, { silent: true });
    await slicesWhen(s, (all) => all.length === 0);
    const { status } = await s.until(`${endpoints(s)}/web`, (reply) => reply.status === 404);
    s.note("endpoints", status);
  }),
  "no selector": onNode(async (s) => {
    await create(s, { ports: [{ port: 80 }] });
    await slicesWhen(s, () => true);
  }),
  "a pod on its way out": onNode(async (s) => {
    await create(s);
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await s.until(slices(s), ({ body }) => readyCount(body.items) === 1);
    await s.delete(`${pods(s)}/p-1`, undefined, { silent: true });
    await slicesWhen(s, ([slice]) => slice?.endpoints?.[0]?.conditions.terminating === true);
    await endpointsWhen(s, (body) => body.metadata !== undefined && !body.subsets);
    await s.delete(`${pods(s)}/p-1`, { gracePeriodSeconds: 0 }, { silent: true });
    await slicesWhen(s, (all) => all.length === 1 && !all[0].endpoints?.length);
  }),
  "a pod without a node": onNode(async (s) => {
    await create(s);
    await pod(s, "p-1", { nodeName: undefined });
    await ready(s, "p-1", "10.1.1.1");
    await pod(s, "p-2");
    await ready(s, "p-2", "10.1.1.2");
    await slicesWhen(s, (all) => readyCount(all) === 1);
  }),
  "several ports and protocols": onNode(async (s) => {
    const ports = [
      { name: "a", port: 80, targetPort: 8080, appProtocol: "kubernetes.io/h2c" },
      { name: "b", port: 53, protocol: "UDP" },
      { name: "c", port: 90, targetPort: "http" },
    ];
    await create(s, { selector: { app: "web" }, ports });
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  }),
  "endpoints that somebody else keeps": async (s) => {
    await create(s, { ports: [{ port: 80 }] });
    const subsets = [
      {
        addresses: [{ ip: "10.9.9.1", hostname: "one" }],
        notReadyAddresses: [{ ip: "10.9.9.2" }],
        ports: [{ port: 80 }],
      },
    ];
    const annotations = { note: "kept" };
    await s.post(
      endpoints(s),
      { metadata: { name: "web", labels: { own: "yes" }, annotations }, subsets },
      { silent: true },
    );
    await slicesWhen(s, (all) => all.length === 1);
    await s.patch(
      "merge",
      `${endpoints(s)}/web`,
      { subsets: [{ ...subsets[0], notReadyAddresses: [] }] },
      { silent: true },
    );
    const { body } = await s.until(slices(s), (reply) => reply.body.items?.[0]?.endpoints?.length === 1);
    s.note(
      "changed",
      body.items.map((slice: Body) => [slice.endpoints, slice.metadata.annotations]),
    );
    await s.delete(`${endpoints(s)}/web`, undefined, { silent: true });
    await slicesWhen(s, (all) => all.length === 0);
  },
  "endpoints that somebody made go with their service": async (s) => {
    await create(s, { ports: [{ port: 80 }] });
    for (const name of ["web", "alone"]) await s.post(endpoints(s), { metadata: { name } }, { silent: true });
    await s.delete(`${services(s)}/web`, undefined, { silent: true });
    s.note("with it", (await s.until(`${endpoints(s)}/web`, ({ status }) => status === 404)).status);
    s.note("that never had one", (await s.get(`${endpoints(s)}/alone`, { silent: true })).status);
  },
  "a selector that changes": onNode(async (s) => {
    await create(s);
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await s.until(slices(s), ({ body }) => readyCount(body.items) === 1);
    await s.patch("merge", `${services(s)}/web`, { spec: { selector: { app: "other" } } }, { silent: true });
    await slicesWhen(s, (all) => all.length === 1 && readyCount(all) === 0);
    await s.patch("merge", `${pods(s)}/p-1`, { metadata: { labels: { app: "other" } } }, { silent: true });
    await slicesWhen(s, (all) => readyCount(all) === 1);
  }),
  "a name of another host": onNode(async (s) => {
    await create(s, { type: "ExternalName", externalName: "example.com", selector: { app: "web" } });
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, () => true);
  }),
});
