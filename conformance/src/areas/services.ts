import { area } from "../case.js";
import type { Body, Session } from "../session.js";
import { readyStatus } from "./transitions.js";

const services = (s: Session): string => `/api/v1/namespaces/${s.namespace}/services`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const slices = (s: Session): string => `/apis/discovery.k8s.io/v1/namespaces/${s.namespace}/endpointslices`;
const endpoints = (s: Session): string => `/api/v1/namespaces/${s.namespace}/endpoints`;

const web = { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };

const create = async (s: Session, spec: object = web, metadata: object = {}): Promise<void> => {
  const reply = await s.post(services(s), { metadata: { name: "web", ...metadata }, spec }, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
};

const pod = async (s: Session, name: string, more: object = {}): Promise<void> => {
  const containers = [{ name: "main", image: "web", ports: [{ name: "http", containerPort: 9090 }] }];
  await s.post(
    pods(s),
    { metadata: { name, labels: { app: "web" } }, spec: { containers, ...more } },
    { silent: true },
  );
};

const ready = async (s: Session, name: string, ip: string): Promise<void> => {
  await s.patch("merge", `${pods(s)}/${name}/status`, readyStatus(ip), { silent: true });
};

/** What slices hold, without their generated names and the times that moved them. */
const shown = (slice: Body): object => ({
  metadata: { labels: slice.metadata.labels, generateName: slice.metadata.generateName },
  owners: slice.metadata.ownerReferences,
  addressType: slice.addressType,
  endpoints: [...(slice.endpoints ?? [])].sort((left: Body, right: Body) =>
    left.addresses[0] < right.addresses[0] ? -1 : 1,
  ),
  ports: slice.ports ?? [],
});

const slicesWhen = async (s: Session, isDone: (all: readonly Body[]) => boolean): Promise<void> => {
  const { body } = await s.until(slices(s), (reply) => isDone(reply.body.items ?? []));
  s.note("slices", (body.items ?? []).map(shown));
};

const endpointsWhen = async (s: Session, isDone: (body: Body) => boolean): Promise<void> => {
  const { body } = await s.until(`${endpoints(s)}/web`, (reply) => isDone(reply.body));
  s.note("endpoints", { labels: body.metadata?.labels, subsets: body.subsets });
};

const readyCount = (all: readonly Body[]): number =>
  all.flatMap((slice) => slice.endpoints ?? []).filter((endpoint: Body) => endpoint.conditions?.ready).length;

export const serviceCases = area("endpoints", {
  "none yet": async (s) => {
    await create(s, web, { labels: { team: "a" } });
    await slicesWhen(s, (all) => all.length === 1);
    await endpointsWhen(s, (body) => body.metadata?.labels !== undefined);
  },
  "a pod that is not ready": async (s) => {
    await create(s);
    await pod(s, "p-1");
    const status = { phase: "Running", podIP: "10.1.1.1", podIPs: [{ ip: "10.1.1.1" }] };
    await s.patch("merge", `${pods(s)}/p-1/status`, { status }, { silent: true });
    await slicesWhen(s, ([slice]) => slice?.endpoints?.length === 1);
    await endpointsWhen(s, (body) => body.subsets?.length === 1);
  },
  "pods that become ready": async (s) => {
    await create(s);
    for (const at of [1, 2]) {
      await pod(s, `p-${at}`);
      await ready(s, `p-${at}`, `10.1.1.${at}`);
    }
    await slicesWhen(s, (all) => readyCount(all) === 2);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 2);
  },
  "a pod that ends": async (s) => {
    await create(s);
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await s.until(slices(s), ({ body }) => readyCount(body.items) === 1);
    await s.patch("merge", `${pods(s)}/p-1/status`, { status: { phase: "Succeeded" } }, { silent: true });
    await slicesWhen(s, (all) => all.length === 1 && readyCount(all) === 0);
    await endpointsWhen(s, (body) => body.metadata !== undefined && !body.subsets);
  },
  "a port by name": async (s) => {
    await create(s, { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] });
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  },
  "a port that no pod has": async (s) => {
    await create(s, { selector: { app: "web" }, ports: [{ port: 80, targetPort: "metrics" }] });
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
  },
  "without an address of its own": async (s) => {
    await create(s, { ...web, clusterIP: "None" });
    await pod(s, "p-1", { hostname: "first", subdomain: "web" });
    await ready(s, "p-1", "10.1.1.1");
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  },
  "addresses that are published before they are ready": async (s) => {
    await create(s, { ...web, publishNotReadyAddresses: true });
    await pod(s, "p-1");
    const status = { phase: "Running", podIP: "10.1.1.1", podIPs: [{ ip: "10.1.1.1" }] };
    await s.patch("merge", `${pods(s)}/p-1/status`, { status }, { silent: true });
    await slicesWhen(s, (all) => readyCount(all) === 1);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.addresses?.length === 1);
  },
  "labels that change": async (s) => {
    await create(s, web, { labels: { team: "a", other: "x" } });
    await s.until(slices(s), ({ body }) => body.items?.length === 1);
    await s.patch(
      "merge",
      `${services(s)}/web`,
      { metadata: { labels: { team: "b", other: null } } },
      { silent: true },
    );
    await slicesWhen(s, ([slice]) => slice?.metadata.labels.team === "b");
  },
  "ports that change": async (s) => {
    await create(s);
    await pod(s, "p-1");
    await ready(s, "p-1", "10.1.1.1");
    await s.until(slices(s), ({ body }) => readyCount(body.items) === 1);
    const ports = [{ name: "http", port: 80, targetPort: 7070 }];
    await s.patch("merge", `${services(s)}/web`, { spec: { ports } }, { silent: true });
    await slicesWhen(s, (all) => all.length === 1 && all[0].ports?.[0]?.port === 7070);
    await endpointsWhen(s, (body) => body.subsets?.[0]?.ports?.[0]?.port === 7070);
  },
  "a service that goes": async (s) => {
    await create(s);
    await s.until(slices(s), ({ body }) => body.items?.length === 1);
    await s.until(`${endpoints(s)}/web`, ({ status }) => status === 200);
    await s.delete(`${services(s)}/web`, undefined, { silent: true });
    await slicesWhen(s, (all) => all.length === 0);
    const { status } = await s.until(`${endpoints(s)}/web`, (reply) => reply.status === 404);
    s.note("endpoints", status);
  },
  "no selector": async (s) => {
    await create(s, { ports: [{ port: 80 }] });
    await slicesWhen(s, () => true);
  },
});
