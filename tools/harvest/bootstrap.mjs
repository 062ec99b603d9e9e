// The objects that a server creates at its first start, without values that each server assigns anew.
import { collectionPath } from "./api.mjs";
import { resourcesOf } from "./discovery.mjs";

/** Kinds whose objects depend on the server's address, its identity or its other objects. */
const NOT_FACTS = new Set([
  "Lease",
  "Endpoints",
  "EndpointSlice",
  "IPAddress",
  "ConfigMap",
  "Event",
  "ComponentStatus",
]);

/** The default port of a server. */
const KUBERNETES_PORT = 6443;

/** @returns {Promise<object[]>} in discovery order, then in name order */
export async function harvestBootstrap(api, discovery) {
  const objects = [];
  for (const resource of resourcesOf(discovery)) {
    if (!resource.verbs.includes("list") || NOT_FACTS.has(resource.kind)) continue;
    const list = await api.get(collectionPath(resource));
    const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
    for (const item of list.items) {
      const object = bare({ apiVersion, kind: resource.kind, ...item });
      if (object.kind === "Service") for (const port of object.spec.ports) port.targetPort = KUBERNETES_PORT;
      objects.push(object);
    }
  }
  return objects;
}

function bare({ metadata, status, ...object }) {
  const { uid, resourceVersion, creationTimestamp, managedFields, generation, selfLink, ...kept } = metadata;
  const { apiVersion, kind, ...rest } = object;
  const owners = managedFields.map(({ time, ...entry }) => entry);
  return {
    apiVersion,
    kind,
    metadata: { ...kept, managedFields: owners },
    ...rest,
    ...(status ? { status: withoutTimes(status) } : {}),
  };
}

function withoutTimes(value) {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key]) => key !== "lastTransitionTime");
  return Object.fromEntries(entries.map(([key, entry]) => [key, withoutTimes(entry)]));
}
