import { compareQuantities, quantityPattern } from "../../kinds/quantity.js";
import { isEqual, isRecord } from "./field-paths.js";

/**
 * What API servers add inside atomic lists and maps of built-in kinds, which a manager owns as a whole. Elsewhere the
 * set of applied fields distinguishes added fields from stated ones; inside such a part only this table does. `[]`
 * stands for an item. Pod templates are found below any path.
 */
const DEFAULTS: readonly (readonly [path: RegExp, value: unknown])[] = [
  [/\.fieldRef\.apiVersion$/, "v1"],
  [/\.resourceFieldRef\.divisor$/, "0"],
  [/\.projected\.sources\[\]\.serviceAccountToken\.expirationSeconds$/, 3_600],
  [/^spec\.volumeClaimTemplates\[\]\.apiVersion$/, "v1"],
  [/^spec\.volumeClaimTemplates\[\]\.kind$/, "PersistentVolumeClaim"],
  [/^spec\.volumeClaimTemplates\[\]\.spec\.volumeMode$/, "Filesystem"],
  [/^spec\.volumeClaimTemplates\[\]\.status$/, { phase: "Pending" }],
  [/\.podFailurePolicy\.rules\[\]\.onPodConditions\[\]\.status$/, "True"],
  [/^(spec\.(ingress|egress)|subsets)\[\]\.ports\[\]\.protocol$/, "TCP"],
  [/^ports\[\]\.protocol$/, "TCP"],
  [/^ports\[\]\.name$/, ""],
  [/(^|\.)(rules|resourceRules|excludeResourceRules)\[\]\.scope$/, "*"],
  [/^spec\.(matchConstraints|matchResources)\.matchPolicy$/, "Equivalent"],
  // Of a strategy that is stated without its parts.
  [/^spec\.(strategy|updateStrategy)\.type$/, "RollingUpdate"],
  [/^spec\.strategy\.rollingUpdate$/, { maxSurge: "25%", maxUnavailable: "25%" }],
  [/^spec\.strategy\.rollingUpdate\.max(Surge|Unavailable)$/, "25%"],
  [/^spec\.updateStrategy\.rollingUpdate$/, { maxSurge: 0, maxUnavailable: 1 }],
  [/^spec\.updateStrategy\.rollingUpdate$/, { partition: 0 }],
  [/^spec\.updateStrategy\.rollingUpdate\.(partition|maxSurge)$/, 0],
  [/^spec\.updateStrategy\.rollingUpdate\.maxUnavailable$/, 1],
  [/^(roleRef|subjects\[\])\.apiGroup$/, "rbac.authorization.k8s.io"],
  [/^spec\.(spec\.)?devices\.requests\[\]\.exactly\.allocationMode$/, "ExactCount"],
  [/^spec\.(spec\.)?devices\.requests\[\]\.exactly\.count$/, 1],
];

/** Whether servers set this value at a path where nothing was stated. */
export function isServerDefault(path: string, value: unknown): boolean {
  const place = withoutIndexes(path);
  return DEFAULTS.some(([pattern, added]) => pattern.test(place) && isEqual(added, value));
}

/**
 * Fields of built-in kinds whose quantities the API server rewrites (`1000m` to `1`). Each with its parent, because
 * labels and other string maps may have keys of these names.
 */
const QUANTITY_PATH =
  /(^|\.)(resources\.(limits|requests)|spec\.overhead|emptyDir\.sizeLimit|resourceFieldRef\.divisor)([.[]|$)|^(spec\.(hard|capacity|limits)|overhead\.podFixed|capacity)([.[]|$)|^spec\.metrics\[.*\.target\.(value|averageValue)$/;

const QUANTITY = new RegExp(quantityPattern);

/** Whether a server may store one value for the other at this path. */
export function isSameQuantity(path: string, left: unknown, right: unknown): boolean {
  return isQuantity(left) && isQuantity(right) && QUANTITY_PATH.test(path) && compareQuantities(left, right) === 0;
}

/** Times of built-in kinds, which the API server writes in UTC and with as many digits as their kind has. */
const TIME_PATH = /^(spec\.(renewTime|acquireTime)|eventTime|firstTimestamp|lastTimestamp|series\.lastObservedTime)$/;

/** Whether a server writes the one for the other at this path. */
export function isSameTime(path: string, left: unknown, right: unknown): boolean {
  if (typeof left !== "string" || typeof right !== "string" || !TIME_PATH.test(path)) return false;
  return Date.parse(left) === Date.parse(right);
}

function isQuantity(value: unknown): value is string | number {
  return (typeof value === "string" || typeof value === "number") && QUANTITY.test(String(value));
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether a server drops an applied value: empty strings, zeros and falses of optional fields. */
export function isDropped(applied: unknown, current: unknown): boolean {
  return current === undefined && (applied === "" || applied === 0 || applied === false);
}

/** A stated and a stored object to compare. */
interface Pair {
  readonly desired: Fields;
  readonly current: unknown;
}

/** Brings both into the same form, for kinds whose servers turn stated fields into others. */
export function asStored(desired: Fields, current: unknown): Pair {
  if (desired.apiVersion !== "v1" || !isRecord(current)) return { desired, current };
  switch (desired.kind) {
    case "Secret":
      return { desired: withPlainBytes(desired, "data"), current: withTexts(desired, current) };
    case "ConfigMap":
      return { desired: withPlainBytes(desired, "binaryData"), current };
    case "LimitRange":
      return { desired: withContainerLimits(desired), current };
    case "Pod":
      return { desired, current: withoutAddedTolerations(desired, current) };
    default:
      return { desired, current };
  }
}

/** The server writes bytes as one line of base64, whatever white space they were stated with. */
function withPlainBytes(desired: Fields, field: string): Fields {
  const stated = Object.entries(fieldsOf(desired[field]));
  if (!stated.some(([, value]) => typeof value === "string" && /\s/.test(value))) return desired;
  const plain = stated.map(([key, value]) => [key, typeof value === "string" ? value.replace(/\s/g, "") : value]);
  return { ...desired, [field]: Object.fromEntries(plain) };
}

/** The server keeps `stringData` as `data`, and the manager's fields under the name that it used. */
function withTexts({ stringData }: Fields, current: Fields): Fields {
  if (!isRecord(stringData) || !isRecord(current.data)) return current;
  const { data } = current;
  const kept = Object.keys(stringData).filter((key) => typeof data[key] === "string");
  const texts = kept.map((key) => [key, Buffer.from(String(data[key]), "base64").toString()]);
  return { ...current, stringData: Object.fromEntries(texts) };
}

const ADDED_TOLERATIONS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((key) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

/** Admission adds two tolerations to every pod. */
function withoutAddedTolerations(desired: Fields, current: Fields): Fields {
  const stated = fieldsOf(desired.spec).tolerations;
  const spec = fieldsOf(current.spec);
  if (!Array.isArray(stated) || !Array.isArray(spec.tolerations)) return current;
  const isAdded = (item: unknown): boolean =>
    ADDED_TOLERATIONS.some((added) => isEqual(added, item)) && !stated.some((each) => isEqual(each, item));
  return { ...current, spec: { ...spec, tolerations: spec.tolerations.filter((item) => !isAdded(item)) } };
}

function withContainerLimits(desired: Fields): Fields {
  const { spec } = desired;
  if (!isRecord(spec) || !Array.isArray(spec.limits)) return desired;
  const limits = spec.limits.map((item: unknown) => {
    if (!isRecord(item) || item.type !== "Container") return item;
    const byDefault = { ...fieldsOf(item.max), ...fieldsOf(item.default) };
    const requested = { ...fieldsOf(item.min), ...byDefault, ...fieldsOf(item.defaultRequest) };
    return { ...item, default: byDefault, defaultRequest: requested };
  });
  return { ...desired, spec: { ...spec, limits } };
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function withoutIndexes(path: string): string {
  return path.replace(/\[\d+\]/g, "[]");
}
