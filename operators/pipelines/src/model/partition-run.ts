import { dirname } from "node:path";
import { isSetpointError } from "setpoint";
import type { PartitionRecord, Stamp, TableFacts, TableWrite } from "../engine/engine.js";
import { PipelinesError } from "../errors.js";
import type { ModelDecision } from "./decide-model.js";
import type { ModelRun } from "./model-run.js";
import { asked, isPending, listChanges, listedPartition } from "./partition-plan.js";
import { literalOf } from "./reader-sql.js";
import { RunTexts } from "./run-texts.js";

/** Name of the table that a full refresh builds aside before it replaces `table`. */
export const asideName = (table: string): string => `${table}__next`;

/**
 * Loads partitions, each in its own transaction together with its row in the ledger. A full refresh of an existing
 * table builds a new table aside, which replaces the old one when it is complete. After an interruption it continues
 * where it stopped. Returns the resulting ledger.
 */
export async function runPartitions(
  run: ModelRun,
  decision: ModelDecision,
  facts: TableFacts,
): Promise<readonly PartitionRecord[]> {
  const isAside = decision.full && facts.stamp !== undefined && facts.type === "table";
  const table = isAside ? asideName(run.table) : run.table;
  const { engine, schema } = run.services;
  let isFresh = decision.full;
  if (isAside) {
    const aside = await run.facts(table);
    const { specHash, inputs } = run.stampOf();
    // Reuse what an interrupted run with the same definition and inputs has loaded.
    isFresh = !(
      aside.stamp?.specHash === specHash &&
      JSON.stringify(aside.stamp.inputs) === JSON.stringify(inputs) &&
      !aside.isDrifted
    );
    if (isFresh && aside.stamp) await engine.drop(table, schema);
  }
  const ledger = isFresh ? [] : await run.ledger(table);
  const changes = decision.lists ? listChanges(ledger, await listPartitions(run)) : askedFor(decision, ledger);
  const isThere = !isFresh && (await run.facts(table)).type === "table";
  const wholeFulfils = isAside ? [] : decision.fulfils;
  if (isThere && (changes.length > 0 || wholeFulfils.length > 0)) {
    // Move the request into the ledger: from here on the ledger says which partitions are pending.
    await run.republish({ type: "keep" }, { table, tests: [], partitions: changes, fulfils: wholeFulfils });
  }
  const pending = [
    ...(isThere ? ledger.filter((record) => !changes.some(({ key }) => key === record.key)) : []),
    ...changes,
  ].filter(isPending);
  await load(run, { table, pending, isThere, fulfils: wholeFulfils, isAside });
  const after = await run.ledger(table);
  if (!isAside) return after;
  const failed = after.filter((record) => record.error !== undefined && !record.skipped);
  // If a partition failed, keep the last good table, and keep what was loaded for the next attempt.
  if (failed.length > 0) return after;
  await run.republish({ type: "adopt", from: table }, { fulfils: decision.fulfils });
  return after;
}

function askedFor({ keys }: ModelDecision, ledger: readonly PartitionRecord[]): readonly PartitionRecord[] {
  return keys ? ledger.filter(({ key }) => keys.includes(key)).map(asked) : [];
}

interface LoadOptions {
  readonly table: string;
  readonly pending: readonly PartitionRecord[];
  readonly isThere: boolean;
  readonly fulfils: readonly string[];
  readonly isAside: boolean;
}

/** The first partition creates the table; the others then load concurrently. */
async function load(run: ModelRun, { table, pending, isThere, fulfils, isAside }: LoadOptions): Promise<void> {
  const rest = [...pending];
  let isMade = isThere;
  while (!isMade && rest.length > 0) {
    const first = rest.shift()!;
    const partitions = (done: PartitionRecord) => [done, ...rest];
    isMade = await loadOne(run, { table, partition: first, isAside }, (done) => ({
      write: (sql) => ({ type: "replace", sql }),
      partitions: partitions(done),
      resetPartitions: true,
      fulfils,
      failed: (record) => [record, ...rest],
    }));
  }
  let state: Stamp["state"] = (await run.facts(table)).stamp?.state;
  const failed: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let partition = rest.shift(); partition && failed.length === 0; partition = rest.shift()) {
      try {
        await loadOne(run, { table, partition, isAside, state }, (done) => ({
          write: writeOf(run),
          partitions: [done],
        }));
        if (run.spec.state) state = (await run.facts(table)).stamp?.state;
      } catch (error) {
        failed.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, run.spec.partitions!.concurrency) }, worker));
  if (failed.length > 0) throw failed[0];
}

/** Errors that fail one partition and let the others continue. */
const OF_ONE_PARTITION: readonly string[] = [
  "PIPELINES_ENGINE_FAILED",
  "PIPELINES_TESTS_FAILED",
  "PIPELINES_INPUT_FAILED",
];

/** Returns false if the partition failed; the ledger records the error. Throws if the whole run cannot continue. */
async function loadOne(
  run: ModelRun,
  {
    table,
    partition,
    isAside,
    state,
  }: { table: string; partition: PartitionRecord; isAside: boolean; state?: Stamp["state"] },
  how: (done: PartitionRecord) => {
    readonly write: (sql: string) => TableWrite;
    readonly partitions: readonly PartitionRecord[];
    readonly resetPartitions?: boolean;
    readonly fulfils?: readonly string[];
    readonly failed?: (record: PartitionRecord) => readonly PartitionRecord[];
  },
): Promise<boolean> {
  const { failed, ...part } = how({ ...asked(partition), executedOn: run.clock.now() });
  try {
    await run.publish(
      { ...part, table, incremental: part.resetPartitions !== true, partition, isWhole: !isAside },
      state,
    );
    return true;
  } catch (error) {
    run.signal.throwIfAborted();
    if (!isSetpointError(error) || !OF_ONE_PARTITION.includes(error.code)) throw error;
    const record = { ...asked(partition), executedOn: run.clock.now(), error: error.message };
    await run.services.engine.savePartitions(table, failed?.(record) ?? [record], run.services.schema);
    return false;
  }
}

/** How a run that adds to the table writes its rows. */
export function writeOf({ spec, table }: ModelRun): (sql: string) => TableWrite {
  const { strategy, uniqueKey, partitionBy } = spec.output;
  if (strategy === "merge") {
    if (uniqueKey.length === 0) throw new PipelinesError("PIPELINES_FILE_INVALID", `${table}: merge needs unique_key`);
    return (sql) => ({ type: "merge", sql, uniqueKey });
  }
  if (strategy === "partition_overwrite") {
    if (partitionBy === undefined) {
      throw new PipelinesError("PIPELINES_FILE_INVALID", `${table}: partition_overwrite needs partition_by`);
    }
    return (sql) => ({ type: "overwrite", sql, partitionBy });
  }
  return (sql) => ({ type: "append", sql });
}

async function listPartitions(run: ModelRun): Promise<readonly PartitionRecord[]> {
  const partitions = run.spec.partitions!;
  const texts = new RunTexts(run.templateData(false, undefined, undefined));
  try {
    if (partitions.type === "sql") {
      const rows = await query(run, texts.render("query", partitions.sql));
      return rows.map((row) => listedPartition(row, partitions.watermark));
    }
    const pattern = texts.render("path", partitions.path).trim();
    const files = await query(
      run,
      `SELECT filename AS path, last_modified::VARCHAR AS updated_on FROM read_blob(${literalOf(pattern)}) ORDER BY 1`,
    ).catch((error: unknown) => {
      if (/no files found/i.test(String(error))) return [];
      throw error;
    });
    const whole: readonly Readonly<Record<string, unknown>>[] =
      partitions.by === "file" ? files.map((row) => ({ uri: row.path, ...row })) : directoriesOf(files);
    const found = partitions.by === "hive" ? whole.map((row) => ({ ...hiveValues(String(row.path)), ...row })) : whole;
    const { transformSql } = partitions;
    if (!transformSql) return found.map((row) => listedPartition(row, partitions.watermark ?? "updated_on"));
    // `{{ .table }}` in the template stands for a table of the listed files.
    const table = `(SELECT unnest(${literalOf(found)}, recursive := true))`;
    const source = { ...transformSql, text: transformSql.text.replaceAll(/\{\{\s*\.table\s*\}\}/g, () => table) };
    const rows = found.length === 0 ? [] : await query(run, texts.render("query", source));
    return rows.map((row) => listedPartition(row, partitions.watermark));
  } catch (error) {
    throw texts.placed(error);
  }
}

async function query(run: ModelRun, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await run.services.engine.query(sql, { signal: run.signal, ...run.schema });
  return rows;
}

function directoriesOf(
  files: readonly Readonly<Record<string, unknown>>[],
): readonly Readonly<Record<string, unknown>>[] {
  const found = new Map<string, string>();
  for (const { path, updated_on: updatedOn } of files) {
    const folder = dirname(String(path));
    const newest = found.get(folder) ?? "";
    found.set(folder, String(updatedOn) > newest ? String(updatedOn) : newest);
  }
  return [...found].map(([path, updatedOn]) => ({ uri: path, path, updated_on: updatedOn }));
}

/** The `key=value` parts of a path: `y` and `m` of `data/y=2024/m=01`. */
function hiveValues(path: string): Readonly<Record<string, string>> {
  const pairs = path.split("/").flatMap((part) => [/^([^=]+)=(.*)$/.exec(part)].filter((match) => match !== null));
  return Object.fromEntries(pairs.map(([, name, value]) => [name!, decodeURIComponent(value!)]));
}
