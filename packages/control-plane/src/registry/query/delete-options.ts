import { fieldErrors } from "../../api/error-budget.js";
import { invalidValue, notSupported } from "../../api/field-error.js";
import { isArray, isObject } from "../../api/json.js";
import { parseBoolean, parseInteger } from "../../api/query-value.js";
import { badRequest, type FieldError, invalid } from "../../api/status-error.js";
import { TYPE_META } from "../body/request-document.js";

export type Propagation = "Orphan" | "Background" | "Foreground";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: Propagation;
  /** Deprecated form of Orphan or Background. */
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly isDryRun: boolean;
}

interface RawDeleteOptions {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly gracePeriodSeconds?: unknown;
  readonly propagationPolicy?: unknown;
  readonly orphanDependents?: unknown;
  readonly preconditions?: { readonly uid?: unknown; readonly resourceVersion?: unknown } | null;
  readonly dryRun?: unknown;
}

/** Reads the options from the body, or from the query if there is no body, as the real server does. */
export function parseDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const raw = body === undefined ? fromQuery(query) : body === null ? {} : fromBody(body);
  const dryRun = raw.dryRun === undefined || raw.dryRun === null ? [] : (raw.dryRun as readonly unknown[]);
  const errors: FieldError[] = fieldErrors();
  const policy = raw.propagationPolicy ?? undefined;
  if (policy !== undefined && raw.orphanDependents !== undefined && raw.orphanDependents !== null) {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    errors.push(invalidValue("propagationPolicy", policy, detail));
  }
  if (policy !== undefined && policy !== "Orphan" && policy !== "Background" && policy !== "Foreground") {
    errors.push(notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]));
  }
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", resource: "DeleteOptions" }, "", errors);
  const { gracePeriodSeconds, orphanDependents, preconditions } = raw;
  return {
    ...(typeof gracePeriodSeconds === "number" && {
      gracePeriodSeconds: gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds,
    }),
    ...(policy !== undefined && { propagationPolicy: policy as Propagation }),
    ...(typeof orphanDependents === "boolean" && { orphanDependents }),
    ...(preconditions && {
      preconditions: {
        ...(typeof preconditions.uid === "string" && { uid: preconditions.uid }),
        ...(typeof preconditions.resourceVersion === "string" && { resourceVersion: preconditions.resourceVersion }),
      },
    }),
    isDryRun: dryRun.length > 0,
  };
}

/** The fields, how to check each, and its Go type. */
const FIELDS: readonly (readonly [path: string, is: (value: unknown) => boolean, type: string])[] = [
  ["gracePeriodSeconds", Number.isInteger, "int64"],
  ["preconditions", isObject, "v1.Preconditions"],
  ["preconditions.uid", isText, "types.UID"],
  ["preconditions.resourceVersion", isText, "string"],
  ["orphanDependents", (value) => typeof value === "boolean", "bool"],
  ["propagationPolicy", isText, "v1.DeletionPropagation"],
  ["dryRun", Array.isArray, "[]string"],
  ["dryRun", (value) => (value as readonly unknown[]).every(isText), "string"],
];

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** Rejects values that Go could not decode into its struct. */
function assertFields(raw: object): void {
  for (const [path, is, type] of FIELDS) {
    const value = path.split(".").reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), raw);
    if (value === undefined || value === null || is(value)) continue;
    const shown = isArray(value) && type === "string" ? value.find((item) => !isText(item)) : value;
    throw badRequest(
      `json: cannot unmarshal ${goName(shown)} into Go struct field DeleteOptions.${path} of type ${type}`,
    );
  }
}

/** The name of a value's type in Go's decoder errors. */
function goName(value: unknown): string {
  if (isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "number" : `number ${value}`;
  return typeof value === "boolean" ? "bool" : typeof value;
}

function fromBody(body: unknown): RawDeleteOptions {
  if (!isObject(body)) {
    const why = `json: cannot unmarshal ${goName(body)} into Go value of type ${TYPE_META}`;
    throw badRequest(`couldn't get version/kind; json parse error: ${why}`);
  }
  const raw = body as RawDeleteOptions;
  if (raw.kind !== undefined && raw.kind !== "" && raw.kind !== "DeleteOptions") {
    const version = typeof raw.apiVersion === "string" && raw.apiVersion !== "" ? raw.apiVersion : "meta.k8s.io/v1";
    const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
    throw badRequest(`no kind "${String(raw.kind)}" is registered for version "${version}" ${scheme}`);
  }
  assertFields(raw);
  return raw;
}

function fromQuery(query: URLSearchParams): RawDeleteOptions {
  const grace = query.get("gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  const orphan = query.get("orphanDependents");
  return {
    ...(grace !== null && { gracePeriodSeconds: parseInteger(grace) }),
    ...(policy !== null && policy !== "" && { propagationPolicy: policy }),
    ...(orphan !== null && { orphanDependents: parseBoolean(orphan) }),
    ...(query.has("dryRun") && { dryRun: query.getAll("dryRun") }),
  };
}
