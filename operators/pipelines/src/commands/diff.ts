import { rmSync } from "node:fs";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import type { ModelSpec } from "../model/model-spec.js";
import { openPipelines } from "../runtime/open-pipelines.js";
import type { Pipelines } from "../runtime/pipelines.js";
import { folderAndNames, numberOf, pipelinesOptions } from "./arguments.js";
import { isForScript, printProblems, printValue, table } from "./printing.js";

/** The temporary schema. No user is likely to give this name to an environment. */
const SCHEMA = "setpoint_diff";

interface Side {
  readonly count: number;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** `setpoint pipelines diff` */
export async function runDiff(context: CommandContext): Promise<number> {
  const { folder, names } = folderAndNames(context);
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) throw new UsageError("name a model: diff [DIR] MODEL");
  const limit = numberOf(context, "limit") ?? 20;
  const options = { ...pipelinesOptions(context), schema: SCHEMA, only: [name] };
  await using pipelines = await openPipelines(folder, options);
  try {
    await pipelines.waitUntilIdle();
    context.signal.throwIfAborted();
    printProblems(context, pipelines.project);
    const resource = pipelines.resource(name);
    const failed = pipelines.graph.list().find(({ error }) => error !== undefined);
    if (failed) throw new CommandError(`${failed.meta.name.name} cannot be built: ${failed.error?.message}`);
    const quoted = `"${(resource.spec as ModelSpec).output.table.replaceAll('"', '""')}"`;
    const removed = await side(pipelines, `main.${quoted}`, `${SCHEMA}.${quoted}`, limit, context.signal);
    const added = await side(pipelines, `${SCHEMA}.${quoted}`, `main.${quoted}`, limit, context.signal);
    if (isForScript(context)) printValue(context, { name: resource.meta.name.name, added, removed });
    else {
      print(context, "-", removed);
      print(context, "+", added);
      context.stdout(`${removed.count} rows removed, ${added.count} rows added`);
    }
    return 0;
  } finally {
    await pipelines.engine.dropSchema(SCHEMA);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${pipelines.folder.catalog}${suffix}`, { force: true });
  }
}

/** Rows of one table that the other lacks. If the columns differ, it compares rows as JSON. */
async function side(
  { engine }: Pipelines,
  from: string,
  without: string,
  limit: number,
  signal: AbortSignal,
): Promise<Side> {
  const different = (row: string) => `(SELECT ${row} FROM ${from} t EXCEPT ALL SELECT ${row} FROM ${without} t)`;
  const columnsOf = async (name: string) => JSON.stringify(await engine.describe(`SELECT * FROM ${name}`, { signal }));
  const isAlike = (await columnsOf(from)) === (await columnsOf(without));
  const rows = different(isAlike ? "t.*" : "to_json(t) AS row");
  const { rows: counted } = await engine.query(`SELECT count(*) AS n FROM ${rows}`, { signal });
  const { rows: some } = await engine.query(`SELECT * FROM ${rows} LIMIT ${limit}`, { signal });
  return { count: Number(counted[0]?.n), rows: some };
}

function print({ stdout }: CommandContext, mark: string, { rows }: Side): void {
  const [first] = rows;
  if (!first) return;
  const names = Object.keys(first);
  const lines = table(
    names,
    rows.map((row) => names.map((column) => row[column])),
  ).split("\n");
  stdout(lines.map((line, at) => `${at === 0 ? " " : mark} ${line}`).join("\n"));
}
