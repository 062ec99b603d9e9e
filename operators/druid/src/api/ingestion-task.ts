import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "setpoint";
import type { Problem } from "../cluster/validation.js";
import type { DruidIngestion } from "../druid-ingestion.js";
import { canonical } from "./subset.js";

const TYPES = {
  "native-batch": "task",
  "index-hadoop": "task",
  kafka: "supervisor",
  kinesis: "supervisor",
  sql: "sql",
} as const;

/** The task or supervisor that Druid should run for a DruidIngestion. */
export interface IngestionTask {
  readonly kind: (typeof TYPES)[keyof typeof TYPES];
  readonly body: JsonObject;
  /** JSON with sorted keys, so that formatting and key order do not count as changes. */
  readonly text: string;
  readonly dataSource: string;
  /** The id of the task or supervisor. A task's id is derived from its spec, so no task is submitted twice. */
  readonly id: string;
}

/** Reads the spec of an ingestion. Pure. Returns each problem with the path of its field. */
export function readTask({ metadata, spec }: DruidIngestion): IngestionTask | readonly Problem[] {
  const { type, nativeSpec, spec: text } = spec.ingestion;
  const kind = TYPES[type as keyof typeof TYPES];
  if (!kind) {
    const known = Object.keys(TYPES).join(", ");
    return [{ path: "spec.ingestion.type", message: `"${type}" is not one of ${known}` }];
  }
  const path = nativeSpec ? "spec.ingestion.nativeSpec" : "spec.ingestion.spec";
  let body: JsonObject;
  try {
    body = (nativeSpec ?? JSON.parse(text ?? "")) as JsonObject;
  } catch (error) {
    return [{ path, message: `is not JSON: ${(error as Error).message}` }];
  }
  const dataSource = kind === "sql" ? targetOf(body.query) : dataSourceOf(body);
  if (kind === "sql" && typeof body.query !== "string")
    return [{ path: `${path}.query`, message: "must be the SQL to run" }];
  if (!dataSource) {
    const what =
      kind === "sql"
        ? "query must be INSERT INTO or REPLACE INTO a datasource"
        : "spec.dataSchema.dataSource is missing";
    return [{ path, message: what }];
  }
  const canonicalText = canonical(body);
  const hash = createHash("sha256").update(`${metadata.uid} ${canonicalText}`).digest("hex").slice(0, 16);
  const given = typeof body.id === "string" ? body.id : undefined;
  const id =
    kind === "task"
      ? (given ?? `${metadata.name}_${hash}`)
      : kind === "sql"
        ? `query-${metadata.name}-${hash}`
        : (given ?? dataSource);
  return { kind, body, text: canonicalText, dataSource, id };
}

function dataSourceOf(body: JsonObject): string | undefined {
  const schema = ((body.spec as JsonObject | undefined)?.dataSchema ?? body.dataSchema) as JsonObject | undefined;
  return typeof schema?.dataSource === "string" ? schema.dataSource : undefined;
}

function targetOf(query: JsonValue | undefined): string | undefined {
  return /\b(?:INSERT|REPLACE)\s+INTO\s+(?:"([^"]+)"|([^\s"(]+))/i
    .exec(String(query ?? ""))
    ?.slice(1)
    .find(Boolean);
}

/** The task or supervisor submitted last, according to the status. */
export function submittedTask({ spec, status }: DruidIngestion): Pick<IngestionTask, "kind" | "id"> | undefined {
  const kind = TYPES[(status?.type ?? spec.ingestion.type) as keyof typeof TYPES];
  return kind && status?.taskId ? { kind, id: status.taskId } : undefined;
}

/** The datasource of the last submitted spec. */
export function submittedDataSource(object: DruidIngestion): string | undefined {
  const { type = "", "currentIngestionSpec.json": text = "" } = object.status ?? {};
  const task = readTask({ ...object, spec: { ...object.spec, ingestion: { type, spec: text } } });
  return "kind" in task ? task.dataSource : undefined;
}

/** The API path that returns the state of a task or supervisor. */
export function statePath({ kind, id }: Pick<IngestionTask, "kind" | "id">): string {
  const what = kind === "supervisor" ? "supervisor" : "task";
  return `/druid/indexer/v1/${what}/${encodeURIComponent(id)}/status`;
}

export function endPath({ kind, id }: Pick<IngestionTask, "kind" | "id">): string {
  const name = encodeURIComponent(id);
  return kind === "supervisor"
    ? `/druid/indexer/v1/supervisor/${name}/terminate`
    : `/druid/indexer/v1/task/${name}/shutdown`;
}

/** Translates Druid's state of a task or supervisor into status fields. */
export function stateOf(kind: IngestionTask["kind"], answer: JsonValue | undefined) {
  const read = (answer ?? {}) as { readonly payload?: JsonObject; readonly status?: JsonObject };
  if (kind === "supervisor") {
    const { state, detailedState, healthy } = (read.payload ?? {}) as Record<string, JsonValue | undefined>;
    const status = state === "SUSPENDED" ? "Suspended" : healthy === false ? "Failed" : state ? "Running" : "Submitted";
    return { status, message: String(detailedState ?? state ?? "no state yet"), isOver: false };
  }
  const code = String(read.status?.statusCode ?? read.status?.status ?? "");
  const words: Readonly<Record<string, string>> = { SUCCESS: "Succeeded", FAILED: "Failed", RUNNING: "Running" };
  const status = words[code] ?? "Submitted";
  const message = String(read.status?.errorMsg ?? code);
  return { status, message, isOver: status === "Succeeded" || status === "Failed" };
}
