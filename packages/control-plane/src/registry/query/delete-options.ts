import { invalidValue, notSupported } from "../field-error.js";
import { badRequest, type FieldError, invalid } from "../status-error.js";
import { parseBoolean, parseInteger } from "./query-value.js";

export type Propagation = "Orphan" | "Background" | "Foreground";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: Propagation;
  /** The old way to say Orphan or Background. */
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

/** From the body where there is one, else from the query, as the real server does. */
export function parseDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const raw = body === undefined ? fromQuery(query) : fromBody(body);
  const dryRun = raw.dryRun === undefined || raw.dryRun === null ? [] : (raw.dryRun as readonly unknown[]);
  const errors: FieldError[] = [];
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

function fromBody(body: unknown): RawDeleteOptions {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw badRequest(
      "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct",
    );
  }
  const raw = body as RawDeleteOptions;
  if (raw.kind !== undefined && raw.kind !== "" && raw.kind !== "DeleteOptions") {
    const version = typeof raw.apiVersion === "string" && raw.apiVersion !== "" ? raw.apiVersion : "meta.k8s.io/v1";
    const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
    throw badRequest(`no kind "${String(raw.kind)}" is registered for version "${version}" ${scheme}`);
  }
  const { gracePeriodSeconds } = raw;
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds !== null && !Number.isInteger(gracePeriodSeconds)) {
    const type = typeof gracePeriodSeconds;
    throw badRequest(
      `json: cannot unmarshal ${type} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`,
    );
  }
  return raw;
}

function fromQuery(query: URLSearchParams): RawDeleteOptions {
  const grace = query.get("gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  const orphan = query.get("orphanDependents");
  return {
    ...(grace !== null && grace !== "" && { gracePeriodSeconds: parseInteger(grace) }),
    ...(policy !== null && policy !== "" && { propagationPolicy: policy }),
    ...(orphan !== null && { orphanDependents: parseBoolean(orphan) }),
    ...(query.has("dryRun") && { dryRun: query.getAll("dryRun") }),
  };
}
