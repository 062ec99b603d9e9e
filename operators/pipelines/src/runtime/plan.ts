import type { GraphResource, ResourceName } from "setpoint/graph";
import type { PartitionRecord, Stamp, TableFacts } from "../engine/engine.js";
import { decideModel } from "../model/decide-model.js";
import { inputsOf, specHashOf } from "../model/model-run.js";
import type { ModelSpec } from "../model/model-spec.js";
import type { DeclaredResource, Project } from "../project/project.js";
import type { Pipelines } from "./pipelines.js";
import { keyOf, projectEdits } from "./project-edits.js";

/** What a run would do with one resource. */
export interface PlannedAction {
  readonly kind: string;
  readonly name: string;
  /** What a model would do, or `create`, `update`, `rename`, `delete`; `maybe` where that depends on a run before it. */
  readonly action: string;
  readonly reason: string;
  /** Of the last run. */
  readonly durationMs?: number;
  readonly rows?: number;
}

/** What a plan is made from. */
export interface PlanQuestion {
  readonly project: Project;
  /** What the graph holds. */
  readonly existing: readonly GraphResource[];
  readonly facts: readonly TableFacts[];
  /** The tables of the main schema, where the project is built in another one. */
  readonly mainFacts?: readonly TableFacts[];
  /** Ledgers by the lower-case name of the table. */
  readonly ledgers: ReadonlyMap<string, readonly PartitionRecord[]>;
  readonly nowMs: number;
}

/** What a run would do with every resource that the files declare, those included that it would leave alone (`none`). Pure. */
export function planOf(question: PlanQuestion): readonly PlannedAction[] {
  const { project, existing } = question;
  if (project.isFrozen) return [];
  const edits = projectEdits(project, existing);
  const movedFrom = new Map(edits.renames.map(({ from, to }) => [keyOf(to), from]));
  const declared = new Map(project.resources.map((one) => [keyOf(one.name), one]));
  const planned = new Map<string, PlannedAction>();
  const plan = (resource: DeclaredResource, above: ReadonlySet<string>): PlannedAction => {
    const key = keyOf(resource.name);
    const known = planned.get(key);
    if (known) return known;
    const isCyclic = above.has(key);
    const refs = isCyclic ? [] : resource.refs.flatMap((ref) => declared.get(keyOf(ref)) ?? []);
    const before = refs.map((ref) => plan(ref, new Set([...above, key])));
    const own = isCyclic
      ? entry(resource.name, "none", "it refers to itself, if by way of others: cut the cycle")
      : decision(question, resource, refs, movedFrom.get(key));
    const cause = before.find(({ action }) => action !== "none" && action !== "rename");
    const action =
      own.action === "none" && cause && resource.name.kind === "Model"
        ? { ...own, action: "maybe", reason: `${cause.kind}/${cause.name} runs first; it runs where that has new rows` }
        : own;
    planned.set(key, action);
    return action;
  };
  const deletes = edits.deletes.map((name) => entry(name, "delete", "its file is gone"));
  return [...deletes, ...project.resources.map((resource) => plan(resource, new Set()))];
}

/** The plan of a project that is open: only what would do something. */
export async function planProject(pipelines: Pipelines, nowMs: number): Promise<readonly PlannedAction[]> {
  const { project, graph, engine, schema } = pipelines;
  const question = await askEngine({ project, existing: graph.list(), engine, schema, nowMs });
  return planOf(question).filter(({ action }) => action !== "none");
}

/** Looks up in the database what a plan needs. */
export async function askEngine({
  project,
  existing,
  engine,
  schema,
  nowMs,
}: Pick<PlanQuestion, "project" | "existing" | "nowMs"> & {
  readonly engine: Pipelines["engine"];
  readonly schema: string | undefined;
}): Promise<PlanQuestion> {
  const tables = project.resources.filter(({ name }) => name.kind === "Model").map(({ spec }) => spec as ModelSpec);
  const names = tables.map(({ output }) => output.table);
  const partitioned = tables.filter(({ partitions }) => partitions !== undefined);
  const ledgers = await Promise.all(
    partitioned.map(
      async ({ output }) => [output.table.toLowerCase(), await engine.partitions(output.table, schema)] as const,
    ),
  );
  return {
    project,
    existing,
    facts: await engine.inspect(names, schema),
    ...(schema === undefined ? {} : { mainFacts: await engine.inspect(names) }),
    ledgers: new Map(ledgers),
    nowMs,
  };
}

function decision(
  { existing, facts, mainFacts, ledgers, nowMs }: PlanQuestion,
  { name, spec }: DeclaredResource,
  refs: readonly DeclaredResource[],
  from: ResourceName | undefined,
): PlannedAction {
  const resourceOf = (wanted: ResourceName) => existing.find(({ meta }) => keyOf(meta.name) === keyOf(wanted));
  if (name.kind !== "Model") {
    const known = resourceOf(from ?? name);
    if (!known) return entry(name, "create", "it is new");
    const isSame = JSON.stringify(known.spec) === JSON.stringify(spec);
    return entry(
      name,
      isSame ? "none" : "update",
      isSame ? "its file says what it said" : "its definition has changed",
    );
  }
  const model = spec as ModelSpec;
  const factsOf = (table: string, among = facts) =>
    among.find((one) => one.table.toLowerCase() === table.toLowerCase()) ?? absent(table);
  const { table } = model.output;
  const own = factsOf(from && table.toLowerCase() === name.name.toLowerCase() ? from.name : table);
  const inputs = refs.map((ref) => asResource(ref, resourceOf(ref.name), factsOf));
  const main = mainFacts && factsOf(table, mainFacts).stamp;
  const decided = decideModel({
    spec: model,
    specHash: specHashOf({ spec: model } as never, inputs),
    facts: own,
    inputs: inputsOf({ spec: model } as never, inputs),
    partitions: ledgers.get(table.toLowerCase()) ?? [],
    nowMs,
    ...(main ? { main } : {}),
  });
  const { action, reason } = decided;
  if (action === "none" && from) return entry(name, "rename", `it was ${from.name}`, own.stamp);
  return entry(name, action, reason, own.stamp);
}

/** A ref as a run of the model would see it, were it not to run itself. */
function asResource(
  { name, spec }: DeclaredResource,
  known: GraphResource | undefined,
  factsOf: (table: string) => TableFacts,
): GraphResource {
  const outputVersion =
    name.kind === "Model" ? factsOf((spec as ModelSpec).output.table).stamp?.outputVersion : known?.outputVersion;
  return { meta: { name }, spec, state: known?.state, outputVersion } as unknown as GraphResource;
}

function absent(table: string): TableFacts {
  return { schema: "main", table, type: "absent", columns: [], isDrifted: false, requests: [] };
}

function entry({ kind, name }: ResourceName, action: string, reason: string, stamp?: Stamp): PlannedAction {
  const last = stamp ? { durationMs: stamp.durationMs, rows: stamp.rows } : {};
  return { kind, name, action, reason, ...last };
}
