import type { GraphResource, ResourceName } from "setpoint/graph";
import { resourceKey } from "setpoint/graph";
import type { PartitionRecord, TableFacts } from "../engine/engine.js";
import { decideModel } from "../model/decide-model.js";
import { inputsOf, specHashOf } from "../model/model-run.js";
import type { ModelSpec } from "../model/model-spec.js";
import type { DeclaredResource, Project } from "../project/project.js";
import type { Pipelines } from "./pipelines.js";
import { type ProjectEdits, projectEdits } from "./project-edits.js";

/** What a run would do with one resource. */
export interface PlannedAction {
  readonly kind: string;
  readonly name: string;
  /** The action of a model, or `create`, `update`, `rename`, `delete`. `maybe` if it depends on an earlier run. */
  readonly action: string;
  readonly reason: string;
  /** Duration and rows of the last run. */
  readonly durationMs?: number;
  readonly rows?: number;
}

/** The input of a plan. */
export interface PlanQuestion {
  readonly project: Project;
  /** The resources in the graph. */
  readonly existing: readonly GraphResource[];
  readonly facts: readonly TableFacts[];
  /** The tables of the main schema, if the project is built in another schema. */
  readonly mainFacts?: readonly TableFacts[];
  /** Ledgers by the lower-case name of the table. */
  readonly ledgers: ReadonlyMap<string, readonly PartitionRecord[]>;
  readonly nowMs: number;
}

/** What a run would do with every declared resource, including those that it would leave alone (`none`). Pure. */
export function planOf(question: PlanQuestion): readonly PlannedAction[] {
  if (question.project.isFrozen) return [];
  return new Planner(question).all();
}

/** Plans each resource after the resources that it reads. */
class Planner {
  readonly #question: PlanQuestion;
  readonly #edits: ProjectEdits;
  readonly #declared: ReadonlyMap<string, DeclaredResource>;
  readonly #existing: ReadonlyMap<string, GraphResource>;
  readonly #broken: ReadonlySet<string>;
  readonly #facts: ReadonlyMap<string, TableFacts>;
  readonly #mainFacts: ReadonlyMap<string, TableFacts> | undefined;
  readonly #movedFrom: ReadonlyMap<string, ResourceName>;
  readonly #planned = new Map<string, PlannedAction>();
  /** The spec hash that a run of each model would compute. */
  readonly #specHashes = new Map<string, string>();
  /** Resources whose refs are being planned, outermost first. A cycle comes back to one of them. */
  readonly #open = new Set<string>();
  readonly #circular = new Set<string>();

  constructor(question: PlanQuestion) {
    const { project, existing, facts, mainFacts } = question;
    this.#question = question;
    this.#edits = projectEdits(project, existing);
    this.#movedFrom = new Map(this.#edits.renames.map(({ from, to }) => [resourceKey(to), from]));
    this.#declared = new Map(project.resources.map((one) => [resourceKey(one.name), one]));
    this.#existing = new Map(existing.map((one) => [resourceKey(one.meta.name), one]));
    this.#broken = new Set(project.broken.map(({ name }) => resourceKey(name)));
    this.#facts = byTable(facts);
    this.#mainFacts = mainFacts && byTable(mainFacts);
  }

  all(): readonly PlannedAction[] {
    const deletes = this.#edits.deletes.map((name) => entry(name, "delete", "its file is gone"));
    return [...deletes, ...this.#question.project.resources.map((resource) => this.#plan(resource))];
  }

  #plan(resource: DeclaredResource): PlannedAction {
    const key = resourceKey(resource.name);
    const done = this.#planned.get(key);
    if (done) return done;
    const circular = entry(resource.name, "none", "it refers to itself, directly or through others: cut the cycle");
    if (this.#open.has(key)) {
      const path = [...this.#open];
      for (const member of path.slice(path.indexOf(key))) this.#circular.add(member);
      return circular;
    }
    this.#open.add(key);
    const before = resource.refs
      .flatMap((ref) => this.#declared.get(resourceKey(ref)) ?? [])
      .map((ref) => this.#plan(ref));
    this.#open.delete(key);
    const own = this.#circular.has(key) ? circular : this.#decision(resource);
    const cause = before.find(({ action }) => action !== "none" && action !== "rename" && action !== "share");
    const action =
      own.action === "none" && own !== circular && cause && resource.name.kind === "Model"
        ? {
            ...own,
            action: "maybe",
            reason: `${cause.kind}/${cause.name} runs first; this runs if that brings new rows`,
          }
        : own;
    this.#planned.set(key, action);
    return action;
  }

  #decision({ name, spec, refs }: DeclaredResource): PlannedAction {
    const from = this.#movedFrom.get(resourceKey(name));
    if (name.kind !== "Model") {
      const before = this.#existing.get(resourceKey(from ?? name));
      if (!before) return entry(name, "create", "it is new");
      const isSame = JSON.stringify(before.spec) === JSON.stringify(spec);
      return isSame
        ? entry(name, "none", "its file has not changed")
        : entry(name, "update", "its definition has changed");
    }
    const model = spec as ModelSpec;
    const { table } = model.output;
    const own = factsOf(this.#facts, this.#tableNow(name, model));
    const inputs = refs.flatMap((ref) => this.#seen(ref) ?? []);
    const specHash = specHashOf({ spec: model } as never, inputs);
    this.#specHashes.set(resourceKey(name), specHash);
    const main = this.#mainFacts && factsOf(this.#mainFacts, table);
    const { action, reason } = decideModel({
      spec: model,
      specHash,
      facts: own,
      inputs: inputsOf({ spec: model } as never, inputs),
      partitions: this.#question.ledgers.get(table.toLowerCase()) ?? [],
      nowMs: this.#question.nowMs,
      ...(main?.stamp && !main.isDrifted && main.type !== "absent" ? { main: main.stamp } : {}),
    });
    if (action === "none" && from) return entry(name, "rename", `it was ${from.name}`, own);
    return entry(name, action, reason, own);
  }

  /** The current name of the table. The table of a renamed model has its old name until the run. */
  #tableNow(name: ResourceName, { output: { table } }: ModelSpec): string {
    const from = this.#movedFrom.get(resourceKey(name));
    return from && table.toLowerCase() === name.name.toLowerCase() ? from.name : table;
  }

  /**
   * A ref as a model's run would see it, provided that the ref itself does not run. A ref whose file is broken stays as
   * it was.
   */
  #seen(ref: ResourceName): GraphResource | undefined {
    const key = resourceKey(ref);
    const known = this.#existing.get(key);
    const declared = this.#declared.get(key);
    if (!declared) return this.#broken.has(key) ? known : undefined;
    const { name, spec } = declared;
    if (name.kind !== "Model") {
      return {
        meta: { name },
        spec,
        state: known?.state,
        outputVersion: known?.outputVersion,
      } as unknown as GraphResource;
    }
    const isShared = this.#planned.get(key)?.action === "share";
    const table = this.#tableNow(name, spec as ModelSpec);
    const { stamp } = factsOf((isShared && this.#mainFacts) || this.#facts, table);
    const state = { specHash: this.#specHashes.get(key) };
    return { meta: { name }, spec, state, outputVersion: stamp?.outputVersion } as unknown as GraphResource;
  }
}

/** The plan of an open project, without the resources that a run would leave alone. */
export async function planProject(pipelines: Pipelines, nowMs: number): Promise<readonly PlannedAction[]> {
  const { project, graph, engine, schema } = pipelines;
  const question = await askEngine({ project, existing: graph.list(), engine, schema, nowMs });
  return planOf(question).filter(({ action }) => action !== "none");
}

/** Reads what a plan needs from the database. */
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

function byTable(facts: readonly TableFacts[]): ReadonlyMap<string, TableFacts> {
  return new Map(facts.map((one) => [one.table.toLowerCase(), one]));
}

function factsOf(facts: ReadonlyMap<string, TableFacts>, table: string): TableFacts {
  const absent: TableFacts = { schema: "main", table, type: "absent", columns: [], isDrifted: false, requests: [] };
  return facts.get(table.toLowerCase()) ?? absent;
}

function entry({ kind, name }: ResourceName, action: string, reason: string, facts?: TableFacts): PlannedAction {
  const { stamp, type } = facts ?? {};
  const last = stamp && { durationMs: stamp.durationMs, ...(type === "table" ? { rows: stamp.rows } : {}) };
  return { kind, name, action, reason, ...last };
}
