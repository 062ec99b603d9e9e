import type { NewObject } from "setpoint";
import type { Endpoint, EndpointPort, EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import { type Node, type Pod, Service } from "setpoint/kinds/v1";
import { controllerReference } from "../owner-claims.js";
import { type AddressType, endpointOf, familiesOf, isEndpoint, portsOf } from "./endpoint.js";

export const SERVICE_LABEL = "kubernetes.io/service-name";
export const MANAGER_LABEL = "endpointslice.kubernetes.io/managed-by";
const MANAGER = "endpointslice-controller.k8s.io";
const HEADLESS_LABEL = "service.kubernetes.io/headless";
const MOST_ENDPOINTS = 100;

export interface SlicePlan {
  readonly create: readonly NewObject<EndpointSlice>[];
  readonly change: readonly { readonly name: string; readonly body: SliceBody }[];
  readonly remove: readonly string[];
}

interface SliceBody {
  readonly metadata: { readonly labels: Readonly<Record<string, string | null>> };
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly EndpointPort[];
}

/** Whether this controller manages the slice. Others may label their slices with a Service name too. */
export function isManaged({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGER_LABEL] === MANAGER;
}

/**
 * Plans the slices of a Service: its pods by address family and ports, at most a hundred per slice. A Service without
 * endpoints gets one empty slice. Pods whose node does not exist are left out, unless publishNotReadyAddresses is
 * set. An endpoint stays in its slice, so that a change of one pod changes one slice. A surplus slice is reused for a
 * missing one, so that nobody sees both.
 */
export function planSlices(
  service: Service,
  pods: readonly Pod[],
  nodes: ReadonlyMap<string, Node>,
  existing: readonly EndpointSlice[],
): SlicePlan {
  const labels = labelsOf(service);
  const left = new Set(existing);
  const missing: Group[] = [];
  const change: { name: string; body: SliceBody }[] = [];
  for (const { addressType, ports, endpoints } of groupsOf(service, pods, nodes)) {
    const slices = existing.filter((slice) => slice.addressType === addressType && samePorts(slice.ports, ports));
    for (const { slice, chunk } of placed(slices, endpoints)) {
      if (!slice) {
        missing.push({ addressType, ports, endpoints: chunk });
        continue;
      }
      left.delete(slice);
      const body = { metadata: { labels: labelChange(slice, labels) }, endpoints: chunk, ports };
      if (isChanged(slice, body)) change.push({ name: slice.metadata.name, body });
    }
  }
  const { recycled, create, remove } = recycle(missing, left);
  for (const [slice, { ports, endpoints }] of recycled) {
    change.push({
      name: slice.metadata.name,
      body: { metadata: { labels: labelChange(slice, labels) }, endpoints, ports },
    });
  }
  return { create: create.map((group) => newSlice(service, labels, group)), change, remove };
}

/** Reuses surplus slices for missing ones of the same address type, which is immutable. */
export function recycle<T extends { readonly addressType: string }>(missing: readonly T[], left: Set<EndpointSlice>) {
  const recycled: (readonly [slice: EndpointSlice, wanted: T])[] = [];
  const create: T[] = [];
  for (const wanted of missing) {
    const slice = [...left].find(({ addressType }) => addressType === wanted.addressType);
    if (slice) recycled.push([slice, wanted]);
    else create.push(wanted);
    if (slice) left.delete(slice);
  }
  return { recycled, create, remove: [...left].map(({ metadata }) => metadata.name) };
}

interface Group {
  readonly addressType: AddressType;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

function groupsOf(service: Service, pods: readonly Pod[], nodes: ReadonlyMap<string, Node>): readonly Group[] {
  return familiesOf(service).flatMap((addressType) => {
    const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: Endpoint[] }>();
    for (const pod of pods.filter(isEndpoint)) {
      const node = nodes.get(pod.spec?.nodeName ?? "");
      if (!node && !service.spec?.publishNotReadyAddresses) continue;
      const endpoint = endpointOf(pod, service, addressType, node);
      if (endpoint.addresses.length === 0) continue;
      const ports = portsOf(service, pod);
      const key = JSON.stringify(ports);
      const group = groups.get(key) ?? { ports, endpoints: [] };
      group.endpoints.push(endpoint);
      groups.set(key, group);
    }
    if (groups.size === 0) return [{ addressType, ports: [], endpoints: [] }];
    return [...groups.values()].map((group) => ({ addressType, ...group }));
  });
}

/**
 * Assigns every endpoint to its current slice, otherwise to the fullest with room, otherwise to a new one. Omits
 * slices that end up empty.
 */
function placed(slices: readonly EndpointSlice[], endpoints: readonly Endpoint[]) {
  if (endpoints.length === 0) return [{ slice: slices[0], chunk: [] as readonly Endpoint[] }];
  const byUid = new Map(endpoints.map((endpoint) => [endpoint.targetRef?.uid, endpoint]));
  const chunks = slices.map((slice) => {
    const kept = (slice.endpoints ?? []).flatMap(({ targetRef }) => {
      const endpoint = byUid.get(targetRef?.uid);
      byUid.delete(targetRef?.uid);
      return endpoint ? [endpoint] : [];
    });
    return { slice: slice as EndpointSlice | undefined, chunk: kept };
  });
  chunks.sort((one, other) => other.chunk.length - one.chunk.length);
  for (const endpoint of byUid.values()) {
    let place = chunks.find(({ chunk }) => chunk.length < MOST_ENDPOINTS);
    if (!place) {
      place = { slice: undefined, chunk: [] };
      chunks.push(place);
    }
    place.chunk.push(endpoint);
  }
  return chunks.filter(({ chunk }) => chunk.length > 0);
}

function newSlice(
  service: Service,
  labels: Readonly<Record<string, string>>,
  { addressType, ports, endpoints }: Group,
): NewObject<EndpointSlice> {
  const { name, namespace } = service.metadata;
  const ownerReferences = [controllerReference(Service, service)];
  const metadata = { generateName: `${name}-`, namespace: namespace!, labels, ownerReferences };
  return { metadata, addressType, ports, endpoints } as NewObject<EndpointSlice>;
}

function labelsOf({ metadata, spec }: Service): Readonly<Record<string, string>> {
  const reserved = [SERVICE_LABEL, MANAGER_LABEL, HEADLESS_LABEL];
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !reserved.includes(key));
  const isHeadless = !spec?.clusterIP || spec.clusterIP === "None";
  return {
    ...Object.fromEntries(own),
    ...(isHeadless && { [HEADLESS_LABEL]: "" }),
    [SERVICE_LABEL]: metadata.name,
    [MANAGER_LABEL]: MANAGER,
  };
}

/** Labels as a merge patch, which removes labels that the Service no longer has. */
function labelChange({ metadata }: EndpointSlice, labels: Readonly<Record<string, string>>) {
  const gone = Object.keys(metadata.labels ?? {}).filter((key) => !Object.hasOwn(labels, key));
  return { ...labels, ...Object.fromEntries(gone.map((key) => [key, null])) };
}

function isChanged(slice: EndpointSlice, { metadata, endpoints, ports }: SliceBody): boolean {
  const labels = slice.metadata.labels ?? {};
  if (Object.entries(metadata.labels).some(([key, value]) => labels[key] !== (value ?? undefined))) return true;
  return !sameValue(slice.endpoints ?? [], endpoints) || !sameValue(slice.ports ?? [], ports);
}

function samePorts(left: EndpointSlice["ports"], right: readonly EndpointPort[]): boolean {
  return sameValue(left ?? [], right);
}

/** Compares values regardless of field order. */
export function sameValue(left: unknown, right: unknown): boolean {
  return stable(left) === stable(right);
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
