import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Clock, systemClock, systemRandom } from "setpoint/clock";
import type { GraphContext, GraphResource } from "setpoint/graph";
import type { PartitionRecord, Publication, Stamp, TableFacts, TableWrite } from "../engine/engine.js";
import type { SourceText } from "../project/source-text.js";
import { quoted, type TemplateData } from "../template/render-text.js";
import { decideModel, isTable, type ModelDecision } from "./decide-model.js";
import { resolveInput } from "./model-input.js";
import type { ModelServices } from "./model-services.js";
import type { ModelSpec } from "./model-spec.js";
import type { ModelState } from "./model-state.js";
import { partitionCounts } from "./partition-plan.js";
import { RunTexts } from "./run-texts.js";
import { runUnitTest } from "./unit-test.js";

export type ModelResource = GraphResource<ModelSpec, ModelState>;

/** What differs between the publications of one run. */
export interface PublishPart {
  /** Defaults to the model's own table. */
  readonly table?: string;
  readonly write: (sql: string) => TableWrite;
  readonly incremental: boolean;
  readonly partition?: PartitionRecord;
  readonly partitions?: readonly PartitionRecord[];
  readonly resetPartitions?: boolean;
  readonly fulfils?: readonly string[];
  /** Whether to run the tests and the state query, which refer to the table by its final name. */
  readonly isWhole: boolean;
}

/** One run of a model: reads the facts, decides what to do and publishes. */
export class ModelRun {
  readonly spec: ModelSpec;
  readonly table: string;
  readonly clock: Clock;
  readonly services: ModelServices;
  readonly signal: AbortSignal;
  readonly #resource: ModelResource;
  readonly #ctx: GraphContext<ModelState>;

  constructor(services: ModelServices, resource: ModelResource, ctx: GraphContext<ModelState>, signal: AbortSignal) {
    this.services = services;
    this.#resource = resource;
    this.#ctx = ctx;
    this.signal = signal;
    this.spec = resource.spec;
    this.table = resource.spec.output.table;
    this.clock = services.clock ?? systemClock;
  }

  get schema(): { readonly schema?: string } {
    const { schema } = this.services;
    return schema === undefined ? {} : { schema };
  }

  /** Versions of the model's inputs. */
  get inputs(): Readonly<Record<string, string>> {
    return inputsOf(this.#resource, this.#ctx.refs());
  }

  get specHash(): string {
    return specHashOf(this.#resource, this.#ctx.refs());
  }

  async facts(table = this.table): Promise<TableFacts> {
    return (await this.services.engine.inspect([table], this.services.schema))[0]!;
  }

  ledger(table = this.table): Promise<readonly PartitionRecord[]> {
    return this.services.engine.partitions(table, this.services.schema);
  }

  async decide(facts: TableFacts): Promise<ModelDecision> {
    const { spec, specHash, inputs, services } = this;
    const [main] = services.schema === undefined ? [] : await services.engine.inspect([this.table]);
    return decideModel({
      spec,
      specHash,
      facts,
      inputs,
      nowMs: this.clock.now(),
      ...(spec.partitions ? { partitions: await this.ledger() } : {}),
      ...(main?.stamp && !main.isDrifted && main.type !== "absent" ? { main: main.stamp } : {}),
    });
  }

  /** Renders the texts, fetches the input and commits the publication. */
  async publish(part: PublishPart, state: Stamp["state"]): Promise<Stamp> {
    const { spec, services } = this;
    const texts = new RunTexts(this.templateData(part.incremental, part.partition, state));
    const runId = Buffer.from((services.random ?? systemRandom).bytes(8)).toString("hex");
    using input = await this.#ctx.effect("fetch", (signal) =>
      resolveInput(spec.input, {
        render: (source) => texts.render("write", source),
        connector: (name) => services.connectors?.(name),
        folder: services.folder,
        cacheFolder: services.cacheFolder ?? join(services.folder, ".setpoint", "cache"),
        runId,
        signal: AbortSignal.any([signal, this.signal]),
      }),
    );
    const render = (name: string, source: SourceText | undefined): readonly string[] =>
      source ? [texts.render(name, source)] : [];
    const publication: Publication = {
      table: part.table ?? this.table,
      ...this.schema,
      runId,
      before: render("before 0", spec.preExec),
      write: part.write(input.sql),
      tests: part.isWhole ? spec.tests.map(({ name, sql }) => ({ name, sql: texts.render(`test ${name}`, sql) })) : [],
      after: render("after 0", spec.postExec),
      ...(spec.state && part.isWhole ? { stateSql: texts.render("state", spec.state) } : {}),
      partitions: part.partitions ?? [],
      ...(part.resetPartitions ? { resetPartitions: true } : {}),
      fulfils: part.fulfils ?? [],
      stamp: this.stampOf(),
    };
    try {
      if (part.isWhole && spec.unitTests.length > 0) await this.#unitTests();
      return await this.#commit(publication);
    } catch (error) {
      throw texts.placed(error);
    }
  }

  /** Commits a publication that does not run the model's SQL, for example one that keeps the table. */
  async republish(write: TableWrite, given: Partial<Publication> = {}): Promise<Stamp> {
    const { spec } = this;
    const texts = new RunTexts(this.templateData(true, undefined, undefined));
    const runId = Buffer.from((this.services.random ?? systemRandom).bytes(8)).toString("hex");
    try {
      if (spec.unitTests.length > 0 && write.type === "keep") await this.#unitTests();
      return await this.#commit({
        table: this.table,
        ...this.schema,
        runId,
        before: [],
        write,
        tests: spec.tests.map(({ name, sql }) => ({ name, sql: texts.render(`test ${name}`, sql) })),
        after: [],
        ...(spec.state && write.type === "adopt" ? { stateSql: texts.render("state", spec.state) } : {}),
        partitions: [],
        fulfils: [],
        stamp: this.stampOf(),
        ...given,
      });
    } catch (error) {
      throw texts.placed(error);
    }
  }

  stampOf(): Publication["stamp"] {
    return { specHash: this.specHash, testHash: this.spec.testHash, inputs: this.inputs, builtOn: this.clock.now() };
  }

  #commit(publication: Publication): Promise<Stamp> {
    const { engine, onProgress } = this.services;
    const { name } = this.#resource.meta;
    return this.#ctx.effect("publish", (signal) =>
      engine.publish(publication, {
        signal: AbortSignal.any([signal, this.signal]),
        ...(onProgress ? { onProgress: (share: number) => onProgress(name, share) } : {}),
      }),
    );
  }

  templateData(incremental: boolean, partition: PartitionRecord | undefined, state: Stamp["state"]): TemplateData {
    const { environment, variables } = this.services.settings();
    const tables = new Map(
      this.#ctx
        .refs()
        .map(({ meta, state: refState }) => [
          meta.name.name.toLowerCase(),
          (refState as ModelState | undefined)?.table,
        ]),
    );
    return {
      environment,
      variables,
      incremental,
      ref: (name) => quoted(tables.get(name.toLowerCase()) ?? name),
      now: new Date(this.clock.now()),
      self: { name: this.#resource.meta.name.name },
      ...(partition ? { partition: partition.values } : {}),
      ...(state ? { state } : {}),
    };
  }

  async #unitTests(): Promise<void> {
    const { spec, services, signal } = this;
    if (spec.input.type !== "sql") return;
    const texts = new RunTexts(this.templateData(false, undefined, undefined));
    const sql = texts.render("query", spec.input.sql);
    const names = [...new Set(spec.unitTests.flatMap(({ given }) => Object.keys(given)))];
    const facts = await services.engine.inspect(names, services.schema);
    const columns = new Map(facts.map((each) => [each.table.toLowerCase(), each.columns]));
    for (const test of spec.unitTests) {
      await runUnitTest(test, sql, {
        engine: services.engine,
        ...this.schema,
        signal,
        columnsOf: (name) => columns.get(name.toLowerCase()) ?? [],
      });
    }
  }

  /** Writes the model's visible state: the decision and the facts of its table. */
  show(decision: ModelDecision, facts: TableFacts, ledger?: readonly PartitionRecord[]): void {
    const { stamp } = facts;
    const cause = decision.action === "none" ? this.#resource.state?.cause : decision.reason;
    this.#ctx.updateState({
      action: decision.action,
      reason: decision.reason,
      ...(cause === undefined ? {} : { cause }),
      table: this.table,
      type: facts.type,
      specHash: this.specHash,
      columns: facts.columns,
      ...(stamp ? { runId: stamp.runId, builtOn: stamp.builtOn, durationMs: stamp.durationMs } : {}),
      ...(stamp && facts.type === "table" ? { rows: stamp.rows } : {}),
      ...(ledger && this.spec.partitions ? { partitions: partitionCounts(ledger) } : {}),
    });
  }
}

/** Versions of a model's inputs, in the form that its stamp stores. */
export function inputsOf({ spec }: ModelResource, refs: readonly GraphResource[]): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...refs.map(({ meta, outputVersion }) => [
      `${meta.name.kind}/${meta.name.name.toLowerCase()}`,
      outputVersion ?? "",
    ]),
    ...spec.files.map(({ pattern, fingerprint }) => [pattern, fingerprint]),
  ]);
}

/**
 * Hash of the definition. An incremental or partitioned table keeps rows of earlier runs, which depend on the
 * definitions of its inputs. The hash of such a table therefore covers those too.
 */
export function specHashOf({ spec }: ModelResource, refs: readonly GraphResource[]): string {
  if (!isTable(spec) || (!spec.incremental && !spec.partitions)) return spec.specHash;
  const above = refs.map(({ state }) => (state as ModelState | undefined)?.specHash ?? "");
  if (above.length === 0) return spec.specHash;
  return `${spec.specHash}+${createHash("sha256").update(JSON.stringify(above)).digest("base64url").slice(0, 11)}`;
}
