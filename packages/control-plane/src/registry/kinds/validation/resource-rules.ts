import { isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { forbiddenField, invalidValue, required } from "../../field-error.js";
import { qualifiedName } from "../../metadata/name-rules.js";
import type { FieldError } from "../../status-error.js";
import { entriesOf, nanosOf, nonNegativeQuantity, quantityText, type Rule, type StructRule, struct } from "./rule.js";

const CONTAINER = ["cpu", "ephemeral-storage", "memory"];
const QUOTA = [
  ...CONTAINER,
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
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
const STANDARD = [...QUOTA, "storage", "attachable-volumes-"];
const WHOLE = [
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
const BILLION = 1_000_000_000n;

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
/** Resources of the server's own: those without a domain, and its own domain's. */
export const isNativeResource = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");
const isExtended = (name: string): boolean => {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return qualifiedName(`requests.${name}`).length === 0;
};

/** The name of a resource, of any sort. */
export function resourceName(name: string, path: string, errors: FieldError[]): void {
  const complaints = qualifiedName(name);
  for (const why of complaints) errors.push(invalidValue(path, name, why));
  if (complaints.length > 0) return;
  if (!name.includes("/") && !STANDARD.includes(name) && !isHugePages(name)) {
    errors.push(invalidValue(path, name, "must be a standard resource type or fully qualified"));
  }
}

function containerResourceName(name: string, path: string, errors: FieldError[]): void {
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

/** An amount that is not negative, and whole where the resource is counted. */
export function resourceAmount(name: string, value: Json, path: string, errors: FieldError[]): void {
  nonNegativeQuantity(value, path, errors);
  if ((WHOLE.includes(name) || isExtended(name)) && nanosOf(value) % BILLION !== 0n) {
    errors.push(invalidValue(path, quantityText(value), "must be an integer"));
  }
}

const amounts = entriesOf((name, value, path, errors) => {
  containerResourceName(name, path, errors);
  resourceAmount(name, value, path, errors);
});

/** Native resources may be asked for beyond what is guaranteed; others may not. */
const isOvercommitted = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

const requestsWithinLimits: StructRule = ({ limits, requests }, path, errors) => {
  if (!isObject(requests)) return;
  const allowed: JsonObject = isObject(limits) ? limits : {};
  for (const [name, amount] of Object.entries(requests)) {
    const limit = allowed[name];
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

/** What a container asks for and may have. */
export const resourceRequirements: Rule = struct(
  { limits: amounts, requests: amounts },
  requestsWithinLimits,
  hugePagesNeedMore,
);
