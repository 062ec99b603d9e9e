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
  const known: Known = {
    resources: new Map(existing.map((one) => [keyOf(one.meta.name), one])),
    facts: byTable(question.facts),
    ...(question.mainFacts ? { mainFacts: byTable(question.mainFacts) } : {}),
  };
  /** Those whose refs are being looked at. */
  const open = new Set<string>();
  const plan = (resource: DeclaredResource): PlannedAction => {
    const key = keyOf(resource.name);
    const done = planned.get(key);
    if (done) return done;
    const isCyclic = open.has(key);
    open.add(key);
    const refs = isCyclic ? [] : resource.refs.flatMap((ref) => declared.get(keyOf(ref)) ?? []);
    const before = refs.map(plan);
    if (!isCyclic) open.delete(key);
    const own = isCyclic
      ? entry(resource.name, "none", "it refers to itself, if by way of others: cut the cycle")
      : decision(question, known, resource, refs, movedFrom.get(key));
    const cause = before.find(({ action }) => action !== "none" && action !== "rename");
    const action =
      own.action === "none" && cause && resource.name.kind === "Model"
        ? { ...own, action: "maybe", reason: `${cause.kind}/${cause.name} runs first; it runs where that has new rows` }
        : own;
    planned.set(key, action);
    return action;
  };
  const deletes = edits.deletes.map((name) => entry(name, "delete", "its file is gone"));
  return [...deletes, ...project.resources.map((resource) => plan(resource))];
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
  const partitioned = tables.filter(({ partitions }) => partitions !== undefined);
  const ledgers = await Promise.all(
    partitioned.map(
      async ({ output }) => [output.table.toLowerCase(), await engine.partitions(output.table, schema)] as const,
    ),
  );
  return {
    project,
    existing,
    facts: await engine.inspect(undefined, schema),
    ...(schema === undefined ? {} : { mainFacts: await engine.inspect() }),
    ledgers: new Map(ledgers),
    nowMs,
  };
}

/** What is there, to be looked up by name. */
interface Known {
  readonly resources: ReadonlyMap<string, GraphResource>;
  readonly facts: ReadonlyMap<string, TableFacts>;
  readonly mainFacts?: ReadonlyMap<string, TableFacts>;
}

function byTable(facts: readonly TableFacts[]): ReadonlyMap<string, TableFacts> {
  return new Map(facts.map((one) => [one.table.toLowerCase(), one]));
}

function decision(
  { ledgers, nowMs }: PlanQuestion,
  known: Known,
  { name, spec }: DeclaredResource,
  refs: readonly DeclaredResource[],
  from: ResourceName | undefined,
): PlannedAction {
  if (name.kind !== "Model") {
    const before = known.resources.get(keyOf(from ?? name));
    if (!before) return entry(name, "create", "it is new");
    const isSame = JSON.stringify(before.spec) === JSON.stringify(spec);
    return entry(
      name,
      isSame ? "none" : "update",
      isSame ? "its file says what it said" : "its definition has changed",
    );
  }
  const model = spec as ModelSpec;
  const { table } = model.output;
  const isMoved = from && table.toLowerCase() === name.name.toLowerCase();
  const own = factsOf(known.facts, isMoved ? from.name : table);
  const inputs = refs.map((ref) => asResource(ref, known));
  const main = known.mainFacts && factsOf(known.mainFacts, table).stamp;
  const { action, reason } = decideModel({
    spec: model,
    specHash: specHashOf({ spec: model } as never, inputs),
    facts: own,
    inputs: inputsOf({ spec: model } as never, inputs),
    partitions: ledgers.get(table.toLowerCase()) ?? [],
    nowMs,
    ...(main ? { main } : {}),
  });
  if (action === "none" && from) return entry(name, "rename", `it was ${from.name}`, own.stamp);
  return entry(name, action, reason, own.stamp);
}

/** A ref as a run of the model would see it, were it not to run itself. */
function asResource({ name, spec }: DeclaredResource, { resources, facts }: Known): GraphResource {
  const known = resources.get(keyOf(name));
  const outputVersion =
    name.kind === "Model"
      ? factsOf(facts, (spec as ModelSpec).output.table).stamp?.outputVersion
      : known?.outputVersion;
  return { meta: { name }, spec, state: known?.state, outputVersion } as unknown as GraphResource;
}

function factsOf(facts: ReadonlyMap<string, TableFacts>, table: string): TableFacts {
  const absent: TableFacts = { schema: "main", table, type: "absent", columns: [], isDrifted: false, requests: [] };
  return facts.get(table.toLowerCase()) ?? absent;
}

function entry({ kind, name }: ResourceName, action: string, reason: string, stamp?: Stamp): PlannedAction {
  const last = stamp ? { durationMs: stamp.durationMs, rows: stamp.rows } : {};
  return { kind, name, action, reason, ...last };
}
