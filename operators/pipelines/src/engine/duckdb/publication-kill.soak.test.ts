import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { publication } from "../engine.contract.js";
import type { Publication, TableWrite } from "../engine.js";
import { openDuckDb } from "./duckdb-engine.js";

const API = createRequire(import.meta.url).resolve("@duckdb/node-api");
const signal = new AbortController().signal;

/** Kills the engine's process during or after its nth statement, once the file `armed` exists. */
const killer = (armed: string): string => `
  import { createRequire } from "node:module";
  import { existsSync, rmSync } from "node:fs";
  const { DuckDBConnection } = createRequire(${JSON.stringify(API)})(${JSON.stringify(API)});
  let left = Number(process.env.KILL_AT);
  for (const name of ["run", "streamAndReadUntil"]) {
    const original = DuckDBConnection.prototype[name];
    DuckDBConnection.prototype[name] = async function (...args) {
      if (!existsSync(${JSON.stringify(armed)})) return original.apply(this, args);
      left--;
      const isHere = left === 0;
      if (isHere) rmSync(${JSON.stringify(armed)});
      const running = original.apply(this, args);
      if (isHere && process.env.KILL_WHEN === "during") process.kill(process.pid, "SIGKILL");
      const result = await running;
      if (isHere) process.kill(process.pid, "SIGKILL");
      return result;
    };
  }`;

/** The tested writes; CI runs one. */
const CHOSEN = process.env.PIPELINES_KILL_WRITES?.split(",");

const WRITES: readonly (readonly [string, TableWrite, number])[] = [
  ["replace", { type: "replace", sql: "SELECT range AS a FROM range(5)" }, 5],
  ["append", { type: "append", sql: "SELECT range AS a FROM range(2)" }, 5],
  ["merge", { type: "merge", uniqueKey: ["a"], sql: "SELECT range AS a FROM range(1, 4)" }, 4],
  ["overwrite", { type: "overwrite", partitionBy: "a % 2", sql: "SELECT 7 AS a" }, 3],
  ["adopt", { type: "adopt", from: "t__next" }, 1],
];

describe("kill -9 of the engine at every statement of a publication", () => {
  it.each(WRITES.filter(([name]) => CHOSEN?.includes(name) ?? true))(
    "%s: the table, its stamp and its ledger are the old or the new ones, never a mix",
    async (_, write, newRows) => {
      const folder = mkdtempSync(join(tmpdir(), "pipelines-kill-"));
      const [armed, script] = [join(folder, "armed"), join(folder, "killer.mjs")];
      writeFileSync(script, killer(armed));
      const given: Partial<Publication> = {
        runId: "new",
        write,
        tests: [{ name: "some", sql: "SELECT 1 WHERE (SELECT count(*) FROM t) = 0" }],
        partitions: [{ key: "p", values: {}, executedOn: 2 }],
        fulfils: ["r"],
        stamp: { specHash: "new", testHash: "", inputs: {}, builtOn: 2 },
      };
      const outcomes = new Set<string>();
      const env = { options: process.env.NODE_OPTIONS };
      try {
        for (const when of ["during", "after"]) {
          for (let step = 1; ; step++) {
            const path = join(folder, `${when}-${step}.duckdb`);
            Object.assign(process.env, {
              NODE_OPTIONS: `--import=${pathToFileURL(script).href}`,
              KILL_AT: String(step),
              KILL_WHEN: when,
            });
            await using engine = await openDuckDb({ path, connections: 1 });
            const old = { write: { type: "replace", sql: "SELECT range AS a FROM range(3)" } } as const;
            await engine.publish(
              publication("t", { ...old, runId: "old", partitions: [{ key: "p", values: {}, executedOn: 1 }] }),
              { signal },
            );
            await engine.publish(publication("t__next"), { signal });
            await engine.request("t", { id: "r", full: true });
            writeFileSync(armed, "");
            const isDone = await engine.publish(publication("t", given), { signal }).then(
              () => true,
              () => false,
            );
            rmSync(armed, { force: true });
            const [facts] = await engine.inspect(["t"]);
            const rows = (await engine.query("FROM t", { signal })).rows.length;
            const isNew = facts!.stamp?.runId === "new";
            if (isDone) expect(isNew).toBe(true);
            expect(facts).toMatchObject({ type: "table", isDrifted: false });
            expect({ rows, counted: facts!.stamp?.rows }).toEqual({
              rows: isNew ? newRows : 3,
              counted: isNew ? newRows : 3,
            });
            expect(facts!.requests).toHaveLength(isNew ? 0 : 1);
            const ledger = await engine.partitions("t");
            expect(ledger.map(({ executedOn }) => executedOn)).toEqual([isNew ? 2 : 1]);
            outcomes.add(isDone ? "done" : isNew ? "committed" : "rolled back");
            if (isDone) break;
          }
        }
      } finally {
        if (env.options === undefined) delete process.env.NODE_OPTIONS;
        else process.env.NODE_OPTIONS = env.options;
        rmSync(folder, { recursive: true, force: true });
      }
      expect([...outcomes].sort()).toEqual(["committed", "done", "rolled back"]);
    },
  );
});
