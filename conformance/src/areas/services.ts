import { area } from "../case.js";
import type { Body, Session } from "../session.js";

const services = (s: Session): string => `/api/v1/namespaces/${s.namespace}/services`;

const service = (spec: object, name = "web") => ({
  metadata: { name },
  spec: { selector: { app: "web" }, ports: [{ port: 80 }], ...spec },
});

/** The values assigned to a service; addresses chosen by a server are shown only as present or absent. */
const given = (
  s: Session,
  what: string,
  { status, body }: { status: number; body: Body },
  chosen: Chosen = {},
): void => {
  if (status > 201) {
    s.note(what, body);
    return;
  }
  const { clusterIP, clusterIPs, ports = [], healthCheckNodePort, ...spec } = body.spec;
  const marked = (value: unknown): unknown => (value ? "chosen" : value);
  s.note(what, {
    status,
    ...spec,
    clusterIP: chosen.address === false ? clusterIP : marked(clusterIP),
    clusterIPs: chosen.address === false ? clusterIPs : clusterIPs?.map(marked),
    ports: chosen.ports === false ? ports : ports.map((port: Body) => ({ ...port, nodePort: marked(port.nodePort) })),
    healthCheckNodePort: marked(healthCheckNodePort),
  });
};

/** Whether the server chose them; those of the case are shown unchanged. */
interface Chosen {
  readonly address?: boolean;
  readonly ports?: boolean;
}

const create = async (s: Session, what: string, spec: object, chosen?: Chosen, name?: string): Promise<Body> => {
  const reply = await s.post(services(s), service(spec, name), { silent: true });
  given(s, what, reply, chosen);
  return reply.body;
};

const change = async (s: Session, what: string, spec: object, chosen?: Chosen): Promise<Body> => {
  const reply = await s.patch("merge", `${services(s)}/web`, { spec }, { silent: true });
  given(s, what, reply, chosen);
  return reply.body;
};

const refused = async (s: Session, ...specs: readonly object[]): Promise<void> => {
  for (const [index, spec] of specs.entries())
    given(s, `${index + 1}`, await s.post(services(s), service(spec, `web-${index}`), { silent: true }));
};

const OWN = { address: false, ports: false };

export const serviceCases = area("services", {
  "an address": async (s) => {
    const { spec } = await create(s, "made", {});
    s.note("in range", /^10\.0\./.test(spec.clusterIP));
  },
  "an address of one's own": async (s) => {
    await create(s, "made", { clusterIP: "10.0.0.77" }, OWN);
    await create(s, "taken", { clusterIP: "10.0.0.77" }, OWN, "other");
    await s.delete(`${services(s)}/web`, undefined, { silent: true });
    await create(s, "free again", { clusterIP: "10.0.0.77" }, OWN, "other");
  },
  "all that is said of one": async (s) => {
    await s.post(services(s), service({ clusterIP: "10.0.0.76" }));
    await s.post(services(s), service({ clusterIP: "None" }, "none"));
    await s.post(services(s), service({ type: "ExternalName", externalName: "example.com" }, "name"));
  },
  "an address on trial": async (s) => {
    await s.post(`${services(s)}?dryRun=All`, service({ clusterIP: "10.0.0.78" }), { silent: true });
    await create(s, "made", { clusterIP: "10.0.0.78" }, OWN);
  },
  "addresses that cannot be": (s) =>
    refused(
      s,
      { clusterIP: "10.0.0.300" },
      { clusterIP: "192.168.7.7" },
      { clusterIP: "None", clusterIPs: ["10.0.0.5"] },
      { clusterIPs: ["10.0.0.5"] },
      { clusterIP: "2001:db8::1" },
    ),
  "an address that changes": async (s) => {
    await create(s, "made", { clusterIP: "10.0.0.79" }, OWN);
    await change(s, "another", { clusterIP: "10.0.0.80" }, OWN);
    await change(s, "none", { clusterIP: "None" }, OWN);
    await change(s, "left out", { clusterIP: null, clusterIPs: null }, OWN);
  },
  "no address": async (s) => {
    await create(s, "made", { clusterIP: "None", ports: undefined }, OWN);
    await change(s, "an address", { clusterIP: "10.0.0.81" }, OWN);
  },
  "ports of nodes": async (s) => {
    const made = await create(s, "made", { type: "NodePort" });
    const { nodePort } = made.spec.ports[0];
    s.note("in range", nodePort >= 30_000 && nodePort <= 32_767);
    const kept = await change(s, "another port", { ports: [{ port: 81 }] });
    s.note("chosen", kept.spec.ports[0].nodePort !== undefined);
  },
  "ports of nodes of one's own": async (s) => {
    const ports = [{ port: 80, nodePort: 30_018 }];
    await create(s, "made", { type: "NodePort", ports }, { ports: false });
    await create(s, "taken", { type: "NodePort", ports }, { ports: false }, "other");
    await change(s, "no longer", { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] }, { ports: false });
    await create(s, "free again", { type: "NodePort", ports }, { ports: false }, "other");
  },
  "one port of a node for two protocols": async (s) => {
    const ports = [
      { name: "a", port: 53, protocol: "TCP", nodePort: 30_019 },
      { name: "b", port: 53, protocol: "UDP", nodePort: 30_019 },
    ];
    await create(s, "made", { type: "NodePort", ports }, { ports: false });
  },
  "ports of nodes that cannot be": (s) =>
    refused(
      s,
      { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
      { type: "ClusterIP", ports: [{ port: 80, nodePort: 30_020 }] },
      { type: "NodePort", ports: [{ port: 80, nodePort: -1 }] },
      {
        type: "NodePort",
        ports: [
          { name: "a", port: 80, nodePort: 30_021 },
          { name: "b", port: 81, nodePort: 30_021 },
        ],
      },
    ),
  "from an address to a port of nodes and back": async (s) => {
    const { spec } = await create(s, "made", {});
    const nodes = await change(s, "nodes", { type: "NodePort" });
    s.note("same address", nodes.spec.clusterIP === spec.clusterIP);
    const back = await change(s, "back", { type: "ClusterIP" });
    s.note("ports", back.spec.ports);
  },
  "a name of another host and back": async (s) => {
    await create(s, "made", {});
    await change(s, "no host", { type: "ExternalName" });
    await change(s, "name", { type: "ExternalName", externalName: "example.com" });
    await change(s, "back", { type: "ClusterIP", externalName: null });
  },
  "a load balancer": async (s) => {
    await create(s, "made", { type: "LoadBalancer" });
    await change(s, "local", { externalTrafficPolicy: "Local" });
    await change(s, "cluster", { externalTrafficPolicy: "Cluster" });
    await change(s, "class", { loadBalancerClass: "example.com/lb" });
    await change(s, "address", { type: "ClusterIP" });
  },
  "a load balancer without ports of nodes": async (s) => {
    await create(s, "made", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false });
    await change(s, "with them", { allocateLoadBalancerNodePorts: true });
  },
  "load balancers that cannot be": (s) =>
    refused(
      s,
      { loadBalancerClass: "example.com/lb" },
      { allocateLoadBalancerNodePorts: false },
      { type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.0/33"] },
      { type: "LoadBalancer", loadBalancerIP: "1.2.3" },
      { type: "LoadBalancer", externalTrafficPolicy: "Nearby" },
      { externalTrafficPolicy: "Local" },
      { type: "LoadBalancer", loadBalancerClass: "no good" },
      { type: "LoadBalancer", healthCheckNodePort: 30_029 },
    ),
  "families of addresses": async (s) => {
    await create(s, "single", { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] });
    await create(s, "both if there are", { ipFamilyPolicy: "PreferDualStack" }, {}, "prefer");
    await create(s, "without", { clusterIP: "None", selector: undefined }, OWN, "headless");
  },
  "families that are not there": (s) =>
    refused(
      s,
      { ipFamilyPolicy: "RequireDualStack" },
      { ipFamilies: ["IPv6"] },
      { ipFamilies: ["IPv4", "IPv4"] },
      { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "SingleStack" },
      { ipFamilies: ["IPvX"] },
      { ipFamilyPolicy: "Whatever" },
    ),
  "sessions that stick": async (s) => {
    await create(s, "made", { sessionAffinity: "ClientIP" });
    await change(s, "for a minute", { sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } });
    await change(s, "too long", { sessionAffinityConfig: { clientIP: { timeoutSeconds: 90_000 } } });
    await change(s, "none", { sessionAffinity: "None" });
    await change(s, "none at all", { sessionAffinity: "None", sessionAffinityConfig: null });
  },
  "ports that cannot be": (s) =>
    refused(
      s,
      { ports: [] },
      { ports: [{ port: 0 }] },
      { ports: [{ port: 80, targetPort: "no port" }] },
      { ports: [{ port: 80, targetPort: 70_000 }] },
      { ports: [{ port: 80 }, { port: 81 }] },
      {
        ports: [
          { name: "a", port: 80 },
          { name: "a", port: 81 },
        ],
      },
      {
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 80 },
        ],
      },
      { ports: [{ port: 80, protocol: "HTTP" }] },
      { ports: [{ port: 80, appProtocol: "no good" }] },
      { ports: [{ name: "A_b", port: 80 }] },
    ),
  "addresses from outside": (s) =>
    refused(
      s,
      { externalIPs: ["1.2.3.4", "1.2.3.4.5"] },
      { externalIPs: ["127.0.0.1"] },
      { externalIPs: ["0.0.0.0"] },
      { type: "ExternalName", externalName: "Not A Host" },
      { type: "ExternalName", externalName: "" },
      { type: "Whatever" },
    ),
  "how traffic goes": (s) =>
    refused(
      s,
      { internalTrafficPolicy: "Nearby" },
      { trafficDistribution: "Nearby" },
      { publishNotReadyAddresses: true, selector: { "a b": "c" } },
      { sessionAffinity: "Sometimes" },
    ),
  names: async (s) => {
    for (const name of ["Web", "1web", "web.example", "w".repeat(64)])
      given(s, name, await s.post(services(s), service({}, name), { silent: true }));
  },
});
