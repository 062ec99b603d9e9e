import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, systemClock } from "setpoint/clock";
import { expect } from "vitest";
import { openDuckDb } from "./engine/duckdb/duckdb-engine.js";
import { modelSpec } from "./model/model.testing.js";
import type { ModelSpec } from "./model/model-spec.js";
import { sourceText } from "./project/source-text.js";

const built = (path: string): string => new URL(`../dist/${path}`, import.meta.url).href;

/** A process that runs the models until they are at rest and ends. It reads the folder, like `run`. */
const PROGRAM = `
  import { readFileSync } from "node:fs";
  import { openGraph } from "setpoint/graph";
  import { sqliteGraphStore } from "@setpoint/sqlite/graph-store";
  import { modelKind, openDuckDb, staleModels } from ${JSON.stringify(built("index.js"))};
  const [folder] = process.argv.slice(-1);
  const declared = JSON.parse(readFileSync(folder + "/specs.json", "utf8"));
  const engine = await openDuckDb({ path: folder + "/main.duckdb", folder, connections: 2 });
  const kind = modelKind({ engine, folder, settings: () => ({ environment: "dev", variables: {} }) });
  const graph = await openGraph({ kinds: [kind], store: sqliteGraphStore(folder + "/graph.db"), capacity: { connections: 2 } });
  for (const { name, spec, refs } of declared) {
    if (graph.get(name)) graph.updateSpec(name, spec);
    else graph.create({ name, spec, refs });
  }
  for (const { name } of staleModels(graph.list(), await engine.inspect())) graph.reconcile(name);
  const isSettled = () => graph.list().every(({ status, error, runAgainOn }) => status === "idle" && (!error || !runAgainOn));
  do await graph.waitUntilIdle(); while (!isSettled() && !(await new Promise((resolve) => setTimeout(resolve, 50))));
  const failed = graph.list().filter(({ error }) => error);
  for (const { meta, error } of failed) console.error(meta.name.name, error.message);
  await graph[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
  process.exit(failed.length > 0 ? 1 : 0);`;

/** A model for each way to add rows, on a growing file. */
function declared(
  fingerprint: string,
): readonly { readonly name: object; readonly spec: ModelSpec; readonly refs: readonly object[] }[] {
  const text = (sql: string) => sourceText("models/m.yaml", sql);
  const since = "{{ if incremental }} WHERE id > {{ .state.last }}{{ end }}";
  const state = (table: string) => text(`SELECT max(${table === "merged" ? "last" : "id"}) AS last FROM ${table}`);
  const name = (table: string) => ({ kind: "Model", name: table });
  const of = (spec: ModelSpec, ...refs: string[]) => ({ name: name(spec.output.table), spec, refs: refs.map(name) });
  return [
    of(
      modelSpec("events", "", {
        input: {
          type: "files",
          path: text("events.csv"),
          options: { header: true, columns: { id: "BIGINT", v: "VARCHAR" } },
        },
        files: [{ pattern: "events.csv", fingerprint }],
      }),
    ),
    of(
      modelSpec("appended", `SELECT id, v FROM events${since}`, { incremental: true, state: state("appended") }),
      "events",
    ),
    of(
      modelSpec("merged", `SELECT id % 50 AS k, max(id) AS last FROM events${since} GROUP BY 1`, {
        incremental: true,
        state: state("merged"),
        output: { strategy: "merge", uniqueKey: ["k"] },
      }),
      "events",
    ),
    of(
      modelSpec("parts", "SELECT id // 40 AS p, id, v FROM events WHERE id // 40 = {{ .partition.p }}", {
        incremental: true,
        output: { strategy: "partition_overwrite", partitionBy: "p" },
        partitions: {
          type: "sql",
          sql: text("SELECT id // 40 AS p, max(id) AS mark FROM events GROUP BY 1"),
          watermark: "mark",
          concurrency: 2,
        },
      }),
      "events",
    ),
    of(
      modelSpec("sums", "SELECT (SELECT count(*) FROM appended) AS a, (SELECT count(*) FROM parts) AS p", {
        output: { materialize: true },
      }),
      "appended",
      "parts",
    ),
  ];
}

/** The rows of the models, beside the same rows recomputed from the file. */
const ORACLE = `
  WITH file AS (SELECT * FROM read_csv('events.csv', header = true, columns = { id: 'BIGINT', v: 'VARCHAR' }))
  SELECT 'events' AS model, (SELECT sum(hash(e)::HUGEINT)::VARCHAR FROM events e) AS got, (SELECT sum(hash(f)::HUGEINT)::VARCHAR FROM file f) AS want
  UNION ALL SELECT 'appended', (SELECT sum(hash(e)::HUGEINT)::VARCHAR FROM appended e), (SELECT sum(hash(f)::HUGEINT)::VARCHAR FROM file f)
  UNION ALL SELECT 'merged', (SELECT sum(hash(e)::HUGEINT)::VARCHAR FROM merged e),
    (SELECT sum(hash(g)::HUGEINT)::VARCHAR FROM (SELECT id % 50 AS k, max(id) AS last FROM file GROUP BY 1) g)
  UNION ALL SELECT 'parts', (SELECT sum(hash(e)::HUGEINT)::VARCHAR FROM parts e),
    (SELECT sum(hash(g)::HUGEINT)::VARCHAR FROM (SELECT id // 40 AS p, id, v FROM file) g)
  UNION ALL SELECT 'sums', (SELECT (a, p)::VARCHAR FROM sums), (SELECT (count(*), count(*))::VARCHAR FROM file)`;

/**
 * Kills the whole process at random while the input grows. Every tenth round runs to its end: then each table holds
 * exactly the rows of the file, none twice and none missing.
 */
export async function killRounds(rounds: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "pipelines-kill-"));
  const file = join(folder, "events.csv");
  writeFileSync(file, "id,v\n");
  let id = 0;
  let longestMs = 2_000;
  try {
    for (let round = 1; round <= rounds; round++) {
      const count = 1 + Math.floor(random.next() * 60);
      appendFileSync(file, Array.from({ length: count }, () => `${id++},value ${id}\n`).join(""));
      const fingerprint = createHash("sha256").update(readFileSync(file)).digest("hex");
      writeFileSync(join(folder, "specs.json"), JSON.stringify(declared(fingerprint)));
      const isWhole = round % 10 === 0 || round === rounds;
      const startedMs = systemClock.monotonic();
      const running = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM, folder], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      running.stderr!.on("data", (chunk) => (said += chunk));
      const ended = endOf(running);
      if (!isWhole) {
        const killer = systemClock.timer(100 + random.next() * longestMs, () => running.kill("SIGKILL"));
        await ended;
        killer[Symbol.dispose]();
        continue;
      }
      expect({ round, code: await ended, said }).toEqual({ round, code: 0, said: "" });
      longestMs = Math.max(500, (systemClock.monotonic() - startedMs) * 0.9);
      await using engine = await openDuckDb({ path: join(folder, "main.duckdb"), folder });
      const { rows } = await engine.query(ORACLE, { signal: new AbortController().signal });
      for (const row of rows) expect({ round, ...row, got: row.got }).toEqual({ round, ...row, got: row.want });
      expect((await engine.inspect()).filter(({ isDrifted }) => isDrifted)).toEqual([]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}
