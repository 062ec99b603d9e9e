import type { KubeObject } from "setpoint";
import type { Json, JsonObject } from "../api/json.js";
import { forbidden } from "../api/status-error.js";
import { list, nanosOf, object, quantityText } from "../builtin/validation/rule.js";
import type { AdmissionPlugin } from "../registry/write/admission.js";
import type { Storage } from "../storage/storage.js";
import { amountText, podAmounts } from "./pod-amounts.js";

const ANNOTATION = "kubernetes.io/limit-ranger";
const asJson = (value: KubeObject): JsonObject => value as unknown as JsonObject;

/**
 * The plugin LimitRanger: sets the default requests and limits of the namespace on containers, and rejects pods and
 * claims that are out of its bounds.
 */
export function limitRanger(storage: Storage): AdmissionPlugin {
  const limitsOf = (namespace: string): readonly JsonObject[] => {
    const ranges = storage.snapshot("/limitranges")!;
    // Most clusters have no LimitRange, and every write of a pod runs this.
    if (ranges.size === 0) return [];
    return [...ranges.entries({ namespace })].flatMap((range) => list(object(asJson(range.object).spec).limits));
  };
  return {
    name: "LimitRanger",
    concerns: ({ definition: { storageId } }) => storageId === "/pods" || storageId === "/persistentvolumeclaims",
    async mutate({ operation, definition, subresource, namespace, object: pod }) {
      if (operation !== "CREATE" || definition.storageId !== "/pods" || subresource !== "" || !pod) return pod;
      const limits = limitsOf(namespace).filter(({ type }) => type === "Container");
      return limits.reduce(withDefaults, pod);
    },
    async validate({ operation, definition, subresource, namespace, name, object: given }) {
      if (subresource !== "" || given === undefined) return;
      const isPod = definition.storageId === "/pods" && operation === "CREATE";
      const isClaim = definition.storageId === "/persistentvolumeclaims" && operation !== "DELETE";
      if (!isPod && !isClaim) return;
      const limits = limitsOf(namespace);
      if (limits.length === 0) return;
      const spec = object(asJson(given).spec);
      const found = isPod ? podComplaints(spec, limits) : claimComplaints(spec, limits);
      if (found.length === 0) return;
      const unique = [...new Set(found)];
      const why = unique.length === 1 ? unique[0]! : `[${unique.join(", ")}]`;
      throw forbidden({ group: "", resource: definition.plural }, name, why);
    },
  };
}

type Amounts = Readonly<Record<string, Json>>;

/** Sets the requests and limits that containers omit, and records them in an annotation. */
function withDefaults(pod: KubeObject, limit: JsonObject): KubeObject {
  const notes: string[] = [];
  const spec = object(asJson(pod).spec);
  const filled = (field: "containers" | "initContainers", word: string): JsonObject => {
    if (spec[field] === undefined) return {};
    return { [field]: list(spec[field]).map((container) => filledContainer(container, limit, word, notes)) };
  };
  const changed = { ...spec, ...filled("containers", "container"), ...filled("initContainers", "init container") };
  if (notes.length === 0) return pod;
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}` };
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: changed } as KubeObject;
}

function filledContainer(container: JsonObject, limit: JsonObject, word: string, notes: string[]): JsonObject {
  const resources = object(container.resources);
  const missing = (given: Json | undefined, defaults: Json | undefined): readonly string[] =>
    Object.keys(object(defaults))
      .filter((name) => object(given)[name] === undefined)
      .sort();
  const requests = missing(resources.requests, limit.defaultRequest);
  const limits = missing(resources.limits, limit.default);
  if (requests.length > 0) notes.push(`${requests.join(", ")} request for ${word} ${String(container.name)}`);
  if (limits.length > 0) notes.push(`${limits.join(", ")} limit for ${word} ${String(container.name)}`);
  if (requests.length + limits.length === 0) return container;
  return {
    ...container,
    resources: {
      ...resources,
      limits: { ...object(limit.default), ...object(resources.limits) },
      requests: { ...object(limit.defaultRequest), ...object(resources.requests) },
    },
  };
}

function podComplaints(spec: JsonObject, limits: readonly JsonObject[]): readonly string[] {
  const containers = [...list(spec.containers), ...list(spec.initContainers)];
  return limits.flatMap((limit) => {
    if (limit.type === "Container") {
      return containers.flatMap(({ resources }) =>
        bounds(limit, "Container", object(object(resources).requests), object(object(resources).limits)),
      );
    }
    return limit.type === "Pod" ? bounds(limit, "Pod", sumOf(spec, "requests"), sumOf(spec, "limits")) : [];
  });
}

function claimComplaints(spec: JsonObject, limits: readonly JsonObject[]): readonly string[] {
  const requests = object(object(spec.resources).requests);
  return limits.flatMap((limit) => {
    if (limit.type !== "PersistentVolumeClaim") return [];
    const least = complaintsOf(limit.min, (name, amount) =>
      minimum(name, "PersistentVolumeClaim", amount, requests, {}),
    );
    const most = complaintsOf(limit.max, (name, amount) => {
      const asked = requests[name];
      const head = `maximum ${name} usage per PersistentVolumeClaim is ${quantityText(amount)}`;
      if (asked === undefined) return `${head}.  No request is specified`;
      return nanosOf(asked) > nanosOf(amount) ? `${head}, but request is ${quantityText(asked)}` : undefined;
    });
    return [...least, ...most];
  });
}

/** The requests or limits of the whole pod, as quantities. */
function sumOf(spec: JsonObject, field: "requests" | "limits"): Amounts {
  return Object.fromEntries(Object.entries(podAmounts(spec, field)).map(([name, each]) => [name, amountText(each)]));
}

function complaintsOf(
  amounts: Json | undefined,
  judge: (name: string, amount: Json) => string | undefined,
): readonly string[] {
  return Object.entries(object(amounts)).flatMap(([name, amount]) => judge(name, amount) ?? []);
}

function bounds(limit: JsonObject, type: string, requests: Amounts, limits: Amounts): readonly string[] {
  return [
    ...complaintsOf(limit.min, (name, amount) => minimum(name, type, amount, requests, limits)),
    ...complaintsOf(limit.max, (name, amount) => maximum(name, type, amount, requests, limits)),
    ...complaintsOf(limit.maxLimitRequestRatio, (name, amount) => ratio(name, type, amount, requests, limits)),
  ];
}

function minimum(name: string, type: string, least: Json, requests: Amounts, limits: Amounts): string | undefined {
  const head = `minimum ${name} usage per ${type} is ${quantityText(least)}`;
  const [asked, allowed] = [requests[name], limits[name]];
  if (asked === undefined) return `${head}.  No request is specified`;
  if (nanosOf(asked) < nanosOf(least)) return `${head}, but request is ${quantityText(asked)}`;
  if (allowed !== undefined && nanosOf(allowed) < nanosOf(least))
    return `${head}, but limit is ${quantityText(allowed)}`;
  return undefined;
}

function maximum(name: string, type: string, most: Json, requests: Amounts, limits: Amounts): string | undefined {
  const head = `maximum ${name} usage per ${type} is ${quantityText(most)}`;
  const [asked, allowed] = [requests[name], limits[name]];
  if (allowed === undefined) return `${head}.  No limit is specified`;
  if (nanosOf(allowed) > nanosOf(most)) return `${head}, but limit is ${quantityText(allowed)}`;
  if (asked !== undefined && nanosOf(asked) > nanosOf(most)) return `${head}, but request is ${quantityText(asked)}`;
  return undefined;
}

function ratio(name: string, type: string, most: Json, requests: Amounts, limits: Amounts): string | undefined {
  const head = `${name} max limit to request ratio per ${type} is ${quantityText(most)}`;
  const [asked, allowed] = [nanosOf(requests[name]), nanosOf(limits[name])];
  if (asked === 0n) return `${head}, but no request is specified or request is 0`;
  if (allowed === 0n) return `${head}, but no limit is specified or limit is 0`;
  const provided = Number(allowed) / Number(asked);
  return provided > Number(nanosOf(most)) / 1e9 ? `${head}, but provided ratio is ${provided.toFixed(6)}` : undefined;
}
