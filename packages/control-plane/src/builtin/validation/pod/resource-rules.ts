import { qualifiedName } from "setpoint/kinds";
import { forbiddenField, invalidValue, notSupported, required } from "../../../api/field-error.js";
import { field, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import {
  entriesOf,
  list,
  nanosOf,
  nonNegativeQuantity,
  object,
  quantityText,
  type Rule,
  type StructRule,
  struct,
} from "../rule.js";

const CONTAINER = ["cpu", "ephemeral-storage", "memory"];
/** Resources that quotas count. Their amounts are integers. */
const COUNTED = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "persistentvolumeclaims",
  "configmaps",
  "services.nodeports",
  "services.loadbalancers",
];
/** Resources of pods that quotas measure. */
export const QUOTA_OF_PODS = [
  "pods",
  ...["", "requests.", "limits."].flatMap((prefix) => CONTAINER.map((name) => `${prefix}${name}`)),
];
/** All native quota resources. */
export const QUOTA = [...new Set([...QUOTA_OF_PODS, "requests.storage", ...COUNTED])];
const STANDARD = [...QUOTA, "storage", "attachable-volumes-"];
const BILLION = 1_000_000_000n;

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
/** Whether a resource is native: it has no domain, or the domain kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");
const isExtended = (name: string): boolean => {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return qualifiedName(`requests.${name}`).length === 0;
};

/** Validates the name of any resource. */
export function resourceName(name: string, path: string, errors: FieldError[]): void {
  const complaints = qualifiedName(name);
  for (const why of complaints) errors.push(invalidValue(path, name, why));
  if (complaints.length > 0) return;
  if (!name.includes("/") && !STANDARD.includes(name) && !isHugePages(name)) {
    errors.push(invalidValue(path, name, "must be a standard resource type or fully qualified"));
  }
}

export function containerResourceName(name: string, path: string, errors: FieldError[]): void {
  resourceName(name, path, errors);
  if (!name.includes("/")) {
    if (!CONTAINER.includes(name) && !isHugePages(name)) {
      errors.push(invalidValue(path, name, "must be a standard resource for containers"));
    }
  } else if (!isNativeResource(name) && !isExtended(name)) {
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  }
}

export function quotaResourceName(name: string, path: string, errors: FieldError[]): void {
  if (name.startsWith("count/")) {
    const [, counted = ""] = name.split("/", 2);
    for (const why of qualifiedName(counted)) errors.push(invalidValue(path, name, why));
    return;
  }
  resourceName(name, path, errors);
  if (!name.includes("/") && !QUOTA.includes(name) && !isHugePages(name) && !name.startsWith("requests.hugepages-")) {
    errors.push(invalidValue(path, name, "must be a standard resource for quota"));
  }
}

/** Validates an amount: not negative, and an integer if the resource is counted. */
export function resourceAmount(name: string, value: Json, path: string, errors: FieldError[]): void {
  nonNegativeQuantity(value, path, errors);
  if ((COUNTED.includes(name) || isExtended(name)) && nanosOf(value) % BILLION !== 0n) {
    errors.push(invalidValue(path, quantityText(value), "must be an integer"));
  }
}

const amounts = entriesOf((name, value, path, errors) => {
  containerResourceName(name, path, errors);
  resourceAmount(name, value, path, errors);
});

/** Native resources may be overcommitted, except for huge pages. */
export const isOvercommitted = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

const requestsWithinLimits: StructRule = ({ limits, requests }, path, errors) => {
  if (!isObject(requests)) return;
  const allowed: JsonObject = isObject(limits) ? limits : {};
  for (const [name, amount] of Object.entries(requests)) {
    const limit = field(allowed, name);
    if (limit === undefined) {
      if (!isOvercommitted(name))
        errors.push(required(`${path}.limits`, "Limit must be set for non overcommitable resources"));
      continue;
    }
    const [asked, most] = [nanosOf(amount), nanosOf(limit)];
    const wrong =
      asked !== most && !isOvercommitted(name) ? "equal to" : asked > most ? "less than or equal to" : undefined;
    if (wrong === undefined) continue;
    const why = `must be ${wrong} ${name} limit of ${quantityText(limit)}`;
    errors.push(invalidValue(`${path}.requests`, quantityText(amount), why));
  }
};

const hugePagesNeedMore: StructRule = ({ limits, requests }, path, errors) => {
  const names = [limits, requests].flatMap((each) => (isObject(each) ? Object.keys(each) : []));
  if (!names.some(isHugePages) || names.includes("cpu") || names.includes("memory")) return;
  errors.push(forbiddenField(path, "HugePages require cpu or memory"));
};

const POD_LEVEL = ["cpu", "hugepages-*", "memory"];

function podResourceName(name: string, path: string, errors: FieldError[]): void {
  const before = errors.length;
  resourceName(name, path, errors);
  if (errors.length > before || ["cpu", "memory"].includes(name) || isHugePages(name)) return;
  errors.push(notSupported(path, name, POD_LEVEL));
}

const podAmounts = entriesOf((name, value, path, errors) => {
  podResourceName(name, path, errors);
  resourceAmount(name, value, path, errors);
});

/** The total request of all containers. Init containers run one after the other, before the others. */
function askedFor(spec: JsonObject, name: string): bigint {
  const of = (container: JsonObject): bigint => nanosOf(field(object(object(container.resources).requests), name));
  const isSidecar = ({ restartPolicy }: JsonObject): boolean => restartPolicy === "Always";
  let [sidecars, highest] = [0n, 0n];
  for (const each of list(spec.initContainers)) {
    const needed = sidecars + of(each);
    if (isSidecar(each)) sidecars = needed;
    if (needed > highest) highest = needed;
  }
  const together = list(spec.containers).reduce<bigint>((sum, each) => sum + of(each), sidecars);
  if (together > highest) return together;
  return highest;
}

/** Validates pod-level requests and limits together with those of the containers. */
export const podResources: StructRule = (spec, path, errors) => {
  const resources = object(spec.resources);
  if (resources.claims !== undefined) {
    errors.push(forbiddenField(`${path}.claims`, "claims may not be set for Resources at pod-level"));
  }
  struct({ limits: podAmounts, requests: podAmounts }, requestsWithinLimits)(resources, path, errors);
  for (const [name, amount] of Object.entries(object(resources.requests))) {
    const total = askedFor(spec, name);
    if (total <= nanosOf(amount)) continue;
    const why = `must be greater than or equal to aggregate container requests of ${amountText(total)}`;
    errors.push(invalidValue(`${path}.requests[${name}]`, quantityText(amount), why));
  }
};

const amountText = (nanos: bigint): string =>
  quantityText(nanos % BILLION === 0n ? String(nanos / BILLION) : `${nanos}n`);

/** Validates the requests and limits of a container. */
export const resourceRequirements: Rule = struct(
  { limits: amounts, requests: amounts },
  requestsWithinLimits,
  hugePagesNeedMore,
);
