import type { NewObject } from "setpoint";
import type { Endpoint, EndpointPort, EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import { type EndpointAddress, type EndpointSubset, Endpoints } from "setpoint/kinds/v1";
import { controllerReference } from "../owner-claims.js";
import { type AddressType, familyOf } from "./endpoint.js";
import { MANAGER_LABEL, recycle, SERVICE_LABEL, sameValue } from "./endpoint-slice-plan.js";

const MANAGER = "endpointslicemirroring-controller.k8s.io";
const MOST_ADDRESSES = 1_000;
/** Annotations about the Endpoints object itself. */
const NOT_COPIED = [
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration",
];

export interface MirrorPlan {
  readonly create: readonly NewObject<EndpointSlice>[];
  readonly change: readonly { readonly name: string; readonly body: object }[];
  readonly remove: readonly string[];
}

export function isMirrored({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGER_LABEL] === MANAGER;
}

/** Plans one slice per subset and address family of Endpoints that other clients manage; none if not mirrored. */
export function planMirror(endpoints: Endpoints, isWanted: boolean, existing: readonly EndpointSlice[]): MirrorPlan {
  const wanted = isWanted ? (endpoints.subsets ?? []).flatMap(slicesOf) : [];
  const left = new Set(existing);
  const missing: WantedSlice[] = [];
  const change: { name: string; body: object }[] = [];
  const metadata = metadataOf(endpoints);
  for (const slice of wanted) {
    const { addressType, ports, endpoints: all } = slice;
    const known = [...left].find((each) => each.addressType === addressType && sameValue(each.ports ?? [], ports));
    if (!known) {
      missing.push(slice);
      continue;
    }
    left.delete(known);
    const { labels = {}, annotations = {} } = known.metadata;
    const isSame =
      sameValue(known.endpoints ?? [], all) &&
      sameValue(labels, metadata.labels) &&
      sameValue(annotations, metadata.annotations);
    if (!isSame)
      change.push({ name: known.metadata.name, body: { metadata: replaced(known, metadata), endpoints: all } });
  }
  const { recycled, create, remove } = recycle(missing, left);
  for (const [known, { ports, endpoints: all }] of recycled) {
    change.push({ name: known.metadata.name, body: { metadata: replaced(known, metadata), ports, endpoints: all } });
  }
  return { create: create.map((slice) => newSlice(endpoints, metadata, slice)), change, remove };
}

function newSlice(endpoints: Endpoints, copied: Copied, slice: WantedSlice): NewObject<EndpointSlice> {
  const { name, namespace } = endpoints.metadata;
  const ownerReferences = [controllerReference(Endpoints, endpoints)];
  const metadata = { ...copied, generateName: `${name}-`, namespace: namespace!, ownerReferences };
  return { metadata, ...slice } as NewObject<EndpointSlice>;
}

interface Copied {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

function metadataOf({ metadata: { name, labels, annotations } }: Endpoints): Copied {
  const copied = Object.entries(annotations ?? {}).filter(([key]) => !NOT_COPIED.includes(key));
  return {
    labels: { ...labels, [SERVICE_LABEL]: name, [MANAGER_LABEL]: MANAGER },
    annotations: Object.fromEntries(copied),
  };
}

/** Labels and annotations as a merge patch, which removes those that the Endpoints no longer have. */
function replaced({ metadata }: EndpointSlice, copied: Copied): object {
  const without = (now: object, before: object = {}): object => ({
    ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
    ...now,
  });
  return {
    labels: without(copied.labels, metadata.labels),
    annotations: without(copied.annotations, metadata.annotations),
  };
}

interface WantedSlice {
  readonly addressType: AddressType;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

function slicesOf({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset): readonly WantedSlice[] {
  const all = [
    ...addresses.map((address) => endpointAt(address, true)),
    ...notReadyAddresses.map((address) => endpointAt(address, false)),
  ].slice(0, MOST_ADDRESSES);
  const named = ports.map(({ name = "", protocol = "TCP", ...port }) => ({ name, protocol, ...port }));
  return (["IPv4", "IPv6"] as const).flatMap((addressType) => {
    const endpoints = all.filter((endpoint) => familyOf(endpoint.addresses[0]!) === addressType);
    return endpoints.length === 0 ? [] : [{ addressType, ports: named, endpoints }];
  });
}

function endpointAt({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(targetRef && { targetRef }),
    ...(nodeName && { nodeName }),
  };
}
