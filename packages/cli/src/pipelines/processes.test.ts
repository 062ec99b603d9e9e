import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { ProjectFolder } from "./testing/project-folder.js";

const eventually = <T>(work: () => Promise<T> | T) => vi.waitFor(work, { timeout: 30_000, interval: 20 });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** The child processes of a process. */
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

/** The CPU time of a process, in hundredths of a second. */
const processorTime = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
};

/** Hours within one function call, which DuckDB cannot interrupt. */
const STUBBORN =
  "SELECT max(levenshtein(repeat('a', 500000 + range::INTEGER), repeat('b', 500000))) AS n FROM range(1000)";

describe("two processes on one folder", () => {
  it("the second is refused with the PID of the first, which answers its queries", async () => {
    using project = ProjectFolder.with({ "models/a.sql": "-- @materialize: true\nSELECT 42 AS n" });
    await using start = project.spawn("start", ["--port", "0", "-o", "json"]);
    await eventually(() => expect(start.out, start.err).toContain('"name":"a"'));
    const { code, err } = await project.say("run");
    expect(code).toBe(1);
    expect(err).toContain(`the process with PID ${start.child.pid} runs on this folder`);
    expect(await project.rows("FROM a")).toEqual([{ n: 42 }]);
    expect(JSON.parse((await project.say("explain", ["a", "-o", "json"])).out)).toMatchObject({
      kind: "Model",
      name: "a",
      reason: expect.any(String),
    });
    expect(JSON.parse((await project.say("refresh", ["a", "-o", "json"])).out)).toEqual([{ kind: "Model", name: "a" }]);
    expect(JSON.parse((await project.say("plan", ["-o", "json"])).out)).toEqual([]);
    expect((await project.say("validate")).code).toBe(0);
    expect((await project.say("query", ["--sql", "SELEC 1"])).code).toBe(1);
    expect(statSync(join(project.path, ".setpoint", "server.json")).mode & 0o777).toBe(0o600);
    start.child.kill("SIGTERM");
    expect(await start.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(join(project.path, ".setpoint", "server.json"))).toBe(false);
  });
});

describe("ending a run", () => {
  it("by Ctrl-C does not wait for a query that does not yield, and leaves neither processes nor half a table", async () => {
    using project = ProjectFolder.with({
      "models/a.sql": "-- @materialize: true\nSELECT 1 AS n",
      "models/stubborn.yaml": `type: model\nmaterialize: true\nsql: ${STUBBORN}\npre_exec: COPY (SELECT 1) TO 'started.csv'\n`,
    });
    await using run = project.spawn("run");
    const children = await eventually(() => {
      const found = childrenOf(run.child.pid!);
      expect(found).toHaveLength(1);
      return found;
    });
    // The statement before the query has run, and the query keeps its process busy.
    await eventually(() => expect(existsSync(join(project.path, "started.csv"))).toBe(true));
    const before = processorTime(children[0]!);
    await eventually(() => expect(processorTime(children[0]!)).toBeGreaterThan(before + 50));
    run.child.kill("SIGINT");
    expect(await run.ended).toEqual({ code: 130, signal: null });
    expect(run.err).toContain("interrupted");
    await eventually(() => expect(children.filter(isAlive)).toEqual([]));
    project.remove("models/stubborn.yaml");
    expect(await project.run()).toMatchObject({ code: 0, failed: [] });
    expect(
      await project.rows("SELECT table_name FROM information_schema.tables WHERE table_name = 'stubborn'"),
    ).toEqual([]);
  });

  it("by kill -9 frees the folder and ends the engine's process; the next run continues", async () => {
    using project = ProjectFolder.with({ "models/a.sql": "-- @materialize: true\nSELECT 1 AS n" });
    await using start = project.spawn("start", ["--port", "0", "-o", "json"]);
    await eventually(() => expect(start.out, start.err).toContain('"name":"a"'));
    const children = childrenOf(start.child.pid!);
    expect(children).toHaveLength(1);
    start.child.kill("SIGKILL");
    await start.ended;
    project.write("models/a.sql", "-- @materialize: true\nSELECT 2 AS n");
    expect(await project.run()).toMatchObject({ code: 0, executed: ["a"] });
    expect(await project.rows("FROM a")).toEqual([{ n: 2 }]);
    await eventually(() => expect(children.filter(isAlive)).toEqual([]));
  });
});
