import type { Random } from "setpoint/clock";
import type { GraphResource } from "setpoint/graph";
import type { PartitionRecord } from "../engine/engine.js";
import { PipelinesError } from "../errors.js";
import type { ModelSpec } from "../model/model-spec.js";
import { partitionsInRange } from "../model/partition-plan.js";
import type { Pipelines } from "./pipelines.js";
import { objectAt } from "./resolver.js";

/** A request to run resources again although nothing has changed. */
export interface RefreshOrder {
  /** Names as users write them. All models if empty. */
  readonly names: readonly string[];
  readonly full: boolean;
  /** Keys of partitions, or values of their columns. */
  readonly partitions: readonly string[];
  /** Selects partitions whose first value is neither below `from` nor above `to`. */
  readonly from?: string;
  readonly to?: string;
  /** Only reports what would run. */
  readonly preview: boolean;
}

/** The refresh of one resource. */
export interface Refreshed {
  readonly kind: string;
  readonly name: string;
  /** The selected partitions; undefined for the whole resource. */
  readonly partitions?: readonly Readonly<Record<string, unknown>>[];
  /** Set if the run failed. */
  readonly error?: string;
}

/** Requests the runs and waits for them. The database keeps a request until a run has fulfilled it. */
export async function refresh(
  pipelines: Pipelines,
  order: RefreshOrder,
  random: Random,
): Promise<readonly Refreshed[]> {
  const named = order.names.map((name) => pipelines.resource(name));
  const resources = named.length > 0 ? named : pipelines.graph.list({ kind: "Model" });
  const chosen = await Promise.all(
    resources.map(async (resource) => ({ resource, partitions: await partitionsOf(pipelines, resource, order) })),
  );
  const answers = chosen.map(({ resource: { meta }, partitions }) => ({
    kind: meta.name.kind,
    name: meta.name.name,
    ...(partitions ? { partitions: partitions.map(({ values }) => values) } : {}),
  }));
  if (order.preview) return answers;
  for (const { resource, partitions } of chosen) {
    if (resource.meta.name.kind !== "Model" || partitions?.length === 0) continue;
    const id = Buffer.from(random.bytes(8)).toString("hex");
    const keys = partitions ? { partitions: partitions.map(({ key }) => key) } : {};
    const { table } = (resource.spec as ModelSpec).output;
    await pipelines.engine.request(table, { id, full: order.full, ...keys }, pipelines.schema);
  }
  const why = order.full ? "a full refresh was asked for" : "a refresh was asked for";
  const rests = await pipelines.graph.batch((edit) => {
    for (const { resource } of chosen) edit.reconcile(resource.meta.name, { why });
  });
  return answers.map((answer, at) => {
    const error = rests[at]?.error?.message;
    return error === undefined ? answer : { ...answer, error };
  });
}

/** The selected partitions; undefined for the whole resource. */
async function partitionsOf(
  { engine, schema }: Pipelines,
  { meta, spec }: GraphResource,
  { partitions, from, to }: RefreshOrder,
): Promise<readonly PartitionRecord[] | undefined> {
  if (partitions.length === 0 && from === undefined && to === undefined) return undefined;
  const known = meta.name.kind === "Model" ? await engine.partitions((spec as ModelSpec).output.table, schema) : [];
  if (known.length === 0) {
    const message = `${meta.name.kind}/${meta.name.name} has no partitions: leave --partition, --from and --to out`;
    throw new PipelinesError("PIPELINES_REQUEST_INVALID", message);
  }
  const missing = partitions.find((text) => !known.some((record) => isMeant(record, text)));
  if (missing !== undefined) {
    const some = known.slice(0, 5).map(({ key, values }) => `${key} ${JSON.stringify(values)}`);
    const message = `${meta.name.name} has no partition ${missing}; there are ${some.join(", ")}`;
    throw new PipelinesError("PIPELINES_REQUEST_INVALID", message);
  }
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const inRange = from === undefined && to === undefined ? known : partitionsInRange(known, range);
  return inRange.filter((record) => partitions.length === 0 || partitions.some((text) => isMeant(record, text)));
}

function isMeant({ key, values }: PartitionRecord, text: string): boolean {
  return key === text || Object.values(values).some((value) => String(value) === text);
}

/** Checks a request that came as JSON. */
export function refreshOrder(given: unknown): RefreshOrder {
  const order = objectAt(given, "the request");
  const texts = (field: string): readonly string[] => {
    const value = order[field] ?? [];
    if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
    throw new PipelinesError("PIPELINES_REQUEST_INVALID", `${field} must be a list of texts`);
  };
  return {
    names: texts("names"),
    full: order.full === true,
    partitions: texts("partitions"),
    ...(typeof order.from === "string" ? { from: order.from } : {}),
    ...(typeof order.to === "string" ? { to: order.to } : {}),
    preview: order.preview === true,
  };
}
