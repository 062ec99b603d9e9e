import type { EndpointSubset, Endpoints, Pod, Service } from "setpoint/kinds/v1";
import { isPodReady } from "../pod/pod-state.js";
import { addressesOf, familiesOf, familyOf, hostnameOf, isEndpoint, portsOf } from "./endpoint.js";

export const MANAGER_LABEL = "endpoints.kubernetes.io/managed-by";
export const MANAGER = "endpoint-controller";
const HEADLESS_LABEL = "service.kubernetes.io/headless";

/** The desired Endpoints of a Service: pods grouped by ports, with ready and unready ones apart. */
export function desiredEndpoints(service: Service, pods: readonly Pod[]): Pick<Endpoints, "subsets"> & Labelled {
  const isPublished = service.spec?.publishNotReadyAddresses === true;
  const family = familiesOf(service)[0]!;
  const groups = new Map<
    string,
    { addresses: Address[]; notReadyAddresses: Address[]; ports: EndpointSubset["ports"] }
  >();
  for (const pod of pods.filter((each) => isEndpoint(each) && (isPublished || !each.metadata.deletionTimestamp))) {
    const ip = addressesOf(pod).find((address) => familyOf(address) === family);
    if (ip === undefined) continue;
    const ports = portsOf(service, pod).map(({ name, ...port }) =>
      name ? { name, ...port } : port,
    ) as EndpointSubset["ports"];
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { addresses: [], notReadyAddresses: [], ports };
    const { namespace, name, uid } = pod.metadata;
    const { nodeName } = pod.spec ?? {};
    const targetRef = { kind: "Pod", namespace: namespace!, name, uid };
    const hostname = hostnameOf(pod, service);
    const address = { ip, ...(hostname && { hostname }), ...(nodeName && { nodeName }), targetRef };
    (isPublished || isPodReady(pod) ? group.addresses : group.notReadyAddresses).push(address);
    groups.set(key, group);
  }
  const subsets = [...groups.values()].map(({ addresses, notReadyAddresses, ports }) => ({
    ...(addresses.length > 0 && { addresses: addresses.sort(byIp) }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses: notReadyAddresses.sort(byIp) }),
    ...(ports && ports.length > 0 && { ports }),
  }));
  const isHeadless = !service.spec?.clusterIP || service.spec.clusterIP === "None";
  const labels = {
    ...service.metadata.labels,
    ...(isHeadless && { [HEADLESS_LABEL]: "" }),
    [MANAGER_LABEL]: MANAGER,
  };
  return { labels, subsets };
}

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

type Address = NonNullable<EndpointSubset["addresses"]>[number];

function byIp(left: Address, right: Address): number {
  return left.ip < right.ip ? -1 : 1;
}
