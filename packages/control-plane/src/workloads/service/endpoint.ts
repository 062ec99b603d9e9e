import type { Endpoint, EndpointPort } from "setpoint/kinds/discovery.k8s.io/v1";
import type { Node, Pod, Service } from "setpoint/kinds/v1";
import { isPodOver, isPodReady } from "../pod/pod-state.js";

export type AddressType = "IPv4" | "IPv6";

/** Whether a pod can be an endpoint: it has an address and has not ended. */
export function isEndpoint(pod: Pod): boolean {
  return !isPodOver(pod) && addressesOf(pod).length > 0;
}

/** A pod as an endpoint of a service. */
export function endpointOf(pod: Pod, service: Service, addressType: AddressType, node: Node | undefined): Endpoint {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata;
  const { nodeName } = pod.spec ?? {};
  const serving = isPodReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const isPublished = service.spec?.publishNotReadyAddresses === true;
  const zone = node?.metadata.labels?.["topology.kubernetes.io/zone"];
  const hostname = hostnameOf(pod, service);
  return {
    addresses: addressesOf(pod).filter((address) => familyOf(address) === addressType),
    conditions: { ready: isPublished || (serving && !terminating), serving, terminating },
    targetRef: { kind: "Pod", namespace: namespace!, name, uid },
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
    ...(hostname && { hostname }),
  };
}

/** The hostname of a pod within its Service, if it has one. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const { name, namespace } = service.metadata;
  return spec?.subdomain === name && metadata.namespace === namespace ? spec.hostname : undefined;
}

/** The Service's ports resolved on a pod. Omits named ports that the pod does not have. */
export function portsOf(service: Service, pod: Pod): readonly EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap(({ name = "", targetPort, port, protocol = "TCP", appProtocol }) => {
    const target = targetPort ?? port;
    const found = typeof target === "number" ? target : containerPort(pod, target, protocol);
    if (found === undefined) return [];
    return [{ name, port: found, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function containerPort({ spec }: Pod, name: string, protocol: string): number | undefined {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.find((port) => port.name === name && (port.protocol ?? "TCP") === protocol)?.containerPort;
}

export function addressesOf({ status }: Pod): readonly string[] {
  const all = (status?.podIPs ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return all.length > 0 || !status?.podIP ? all : [status.podIP];
}

export function familyOf(address: string): AddressType {
  return address.includes(":") ? "IPv6" : "IPv4";
}

/** The IP families of a Service. */
export function familiesOf({ spec }: Service): readonly AddressType[] {
  const families = (spec?.ipFamilies ?? []) as readonly AddressType[];
  return families.length > 0 ? families : ["IPv4"];
}
