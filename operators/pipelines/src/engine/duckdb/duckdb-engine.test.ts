import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import { type EngineSubject, engineContract, publication } from "../engine.contract.js";
import { type DuckDbEngine, type DuckDbOptions, openDuckDb } from "./duckdb-engine.js";

const API = createRequire(import.meta.url).resolve("@duckdb/node-api");

interface DuckDbSubject extends EngineSubject {
  readonly engine: DuckDbEngine;
  readonly path: string;
  reopen(behindItsBack?: readonly string[]): Promise<DuckDbEngine>;
}

/** Runs statements on the file in another process, like a user. */
async function byHand(path: string, statements: readonly string[]): Promise<void> {
  const script = `const { DuckDBInstance } = require(${JSON.stringify(API)});
    (async () => {
      const database = await DuckDBInstance.create(${JSON.stringify(path)});
      const connection = await database.connect();
      for (const sql of ${JSON.stringify(statements)}) await connection.run(sql);
      connection.closeSync();
      database.closeSync();
    })().catch((error) => { console.error(error); process.exit(1); });`;
  await promisify(execFile)(process.execPath, ["-e", script]);
}

async function subject(options: Partial<DuckDbOptions> = {}): Promise<DuckDbSubject> {
  const folder = mkdtempSync(join(tmpdir(), "pipelines-engine-"));
  const path = join(folder, "main.duckdb");
  let engine = await openDuckDb({ path, connections: 2, ...options });
  return {
    path,
    get engine() {
      return engine;
    },
    async reopen(behindItsBack) {
      await engine[Symbol.asyncDispose]();
      if (behindItsBack) await byHand(path, behindItsBack);
      engine = await openDuckDb({ path, connections: 2, ...options });
      return engine;
    },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

engineContract("DuckDB", () => subject());

const signal = new AbortController().signal;

describe("DuckDbEngine", () => {
  it("is refused with the PID if another process has the database open", async () => {
    await using first = await subject();
    const error = await openDuckDb({ path: first.path }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "PIPELINES_BUSY",
      message: expect.stringContaining(`PID ${await first.engine.pid()}`),
    });
  });

  it("sets a database aside that does not open, reports it, and goes on with a new one", async () => {
    const aside: string[] = [];
    await using broken = await subject({ onSetAside: ({ path }) => aside.push(path) });
    await broken.engine.publish(publication("t"), { signal });
    await broken.engine[Symbol.asyncDispose]();
    writeFileSync(broken.path, Buffer.alloc(50_000, 7));
    const engine = await broken.reopen();
    expect(await engine.inspect()).toEqual([]);
    expect(aside).toEqual([expect.stringContaining("main.duckdb.broken-")]);
    expect(existsSync(aside[0]!)).toBe(true);
  });

  it("sets only the log aside if only that is broken", async () => {
    const aside: string[] = [];
    await using broken = await subject({ onSetAside: ({ path }) => aside.push(path) });
    await broken.engine.publish(publication("t"), { signal });
    await (await broken.reopen()).publish(publication("u"), { signal });
    process.kill((await broken.engine.pid())!, "SIGKILL");
    while ((await broken.engine.pid()) !== undefined) await systemClock.sleep(10);
    const log = readFileSync(`${broken.path}.wal`);
    writeFileSync(
      `${broken.path}.wal`,
      log.map((byte, at) => (at > 40 && at < 200 ? byte ^ 255 : byte)),
    );
    expect((await broken.engine.inspect(["t", "u"])).map(({ type }) => type)).toEqual(["table", "absent"]);
    expect(aside).toEqual([expect.stringMatching(/broken-.*\.wal$/)]);
  });

  it("reports a folder that cannot be written, and sets nothing aside", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pipelines-engine-"));
    writeFileSync(join(folder, "file"), "");
    await expect(openDuckDb({ path: join(folder, "file", "main.duckdb") })).rejects.toThrow(
      /ENOTDIR|not a directory|EEXIST/,
    );
    expect(readdirSync(folder)).toEqual(["file"]);
    rmSync(folder, { recursive: true });
  });

  it("rejects calls in flight when its process is killed, and starts another with the next call", async () => {
    await using killed = await subject();
    const { engine } = killed;
    const good = await engine.publish(publication("t"), { signal });
    const running = engine.publish(
      publication("t", {
        write: { type: "replace", sql: "SELECT count(*) AS a FROM range(1000000) x, range(1000000) y" },
      }),
      { signal },
    );
    setTimeout(() => void engine.pid().then((pid) => process.kill(pid!, "SIGKILL")), 200);
    await expect(running).rejects.toMatchObject({ code: "PIPELINES_ENGINE_LOST" });
    expect((await engine.inspect(["t"]))[0]).toMatchObject({ stamp: good, isDrifted: false });
  });

  it("ends an aborted call although its process is suspended", async () => {
    await using stopped = await subject();
    const { engine } = stopped;
    await engine.publish(publication("t"), { signal });
    process.kill((await engine.pid())!, "SIGSTOP");
    const controller = new AbortController();
    const running = engine.query("FROM t", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await expect(running).rejects.toThrow("enough");
    expect((await engine.query("FROM t", { signal })).rows).toEqual([{ a: 1 }]);
  });

  it("replaces a suspended process that no longer answers", async () => {
    await using stopped = await subject();
    const { engine } = stopped;
    process.kill((await engine.pid())!, "SIGSTOP");
    await expect(engine.query("SELECT 1", { signal })).rejects.toMatchObject({ code: "PIPELINES_ENGINE_LOST" });
    expect((await engine.query("SELECT 1 AS a", { signal })).rows).toEqual([{ a: 1 }]);
  });

  it("reports a memory limit as an error of the statement, and goes on", async () => {
    await using small = await subject({ memoryLimit: "20MB", tempDirectory: "" });
    const sql = "SELECT list(x.range) AS a FROM range(10000000) x GROUP BY x.range % 1000000";
    await expect(
      small.engine.publish(publication("t", { write: { type: "replace", sql } }), { signal }),
    ).rejects.toThrow(/memory/i);
    await small.engine.publish(publication("t"), { signal });
  });

  it("ends with its parent, so that the file is free for the next one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pipelines-engine-"));
    const path = join(folder, "main.duckdb");
    const built = new URL("../../../dist/index.js", import.meta.url).href;
    const script = `import { openDuckDb } from ${JSON.stringify(built)};
      const engine = await openDuckDb({ path: ${JSON.stringify(path)} });
      void engine.query("SELECT count(*) FROM range(1000000) x, range(1000000) y", { signal: new AbortController().signal });
      await new Promise((resolve) => setTimeout(resolve, 300));
      process.kill(process.pid, "SIGKILL");`;
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]).catch(() => {});
    const engine = await openDuckDb({ path });
    expect(await engine.inspect()).toEqual([]);
    await engine[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it("reports progress of long statements", async () => {
    await using subjected = await subject({ threads: 1 });
    const shares: number[] = [];
    const sql = "SELECT sum(hash(x.range * 31)) AS a FROM range(200000000) x";
    const controller = new AbortController();
    const running = subjected.engine.publish(publication("t", { write: { type: "replace", sql } }), {
      signal: controller.signal,
      onProgress: (share) => shares.push(share),
    });
    running.catch(() => {});
    await expect.poll(() => shares.length).toBeGreaterThan(0);
    controller.abort(new Error("seen"));
    await expect(running).rejects.toThrow("seen");
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
    await systemClock.sleep(0);
  });
});
