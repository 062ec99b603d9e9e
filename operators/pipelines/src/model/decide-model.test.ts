import { describe, expect, it } from "vitest";
import type { Stamp, TableFacts } from "../engine/engine.js";
import { decideModel, type ModelQuestion } from "./decide-model.js";
import { modelSpec } from "./model.testing.js";
import type { ModelSpec } from "./model-spec.js";

const NOW = Date.parse("2024-01-10T12:00:00Z");
const view = modelSpec("t", "SELECT 1");
const table = modelSpec("t", "SELECT 1", { output: { materialize: true } });
const incremental = modelSpec("t", "SELECT 1", { incremental: true });

function stampOf(spec: ModelSpec, change: Partial<Stamp> = {}): Stamp {
  const { specHash, testHash } = spec;
  return {
    specHash,
    testHash,
    inputs: {},
    runId: "r",
    outputVersion: "v",
    rows: 1,
    builtOn: NOW - 3_600_000,
    durationMs: 5,
    ...change,
  };
}

function question(spec: ModelSpec, facts: Partial<TableFacts> = {}, more: Partial<ModelQuestion> = {}): ModelQuestion {
  const type = spec.incremental || spec.partitions || spec.output.materialize ? "table" : "view";
  const base = {
    schema: "main",
    table: "t",
    type,
    columns: [],
    isDrifted: false,
    requests: [],
    stamp: stampOf(spec),
  } as const;
  return { spec, specHash: spec.specHash, facts: { ...base, ...facts }, inputs: {}, nowMs: NOW, ...more };
}

const decided = (...args: Parameters<typeof question>): string => {
  const { action, full, reason } = decideModel(question(...args));
  return `${action}${full ? " full" : ""}: ${reason}`;
};

describe("decideModel", () => {
  it("leaves an up-to-date table alone", () => {
    for (const spec of [view, table, incremental])
      expect(decided(spec)).toMatch(/^none: its definition, inputs and tests/);
  });

  it("builds a model that was never built, or whose table is gone, of another kind, modified or outdated", () => {
    const { stamp: _, ...never } = question(table).facts;
    expect(decideModel({ ...question(table), facts: never })).toMatchObject({
      action: "replace",
      reason: "it was never built",
    });
    expect(decided(table, { type: "absent" })).toBe("replace full: its table no longer exists");
    expect(decided(view, { type: "table", isDrifted: true })).toBe("view full: it is a table and should be a view");
    expect(decided(table, { type: "view", isDrifted: true })).toBe("replace full: it is a view and should be a table");
    expect(decided(incremental, { isDrifted: true })).toBe("replace full: its table was changed by somebody else");
    expect(decided(table, { stamp: stampOf(table, { specHash: "old" }) })).toBe(
      "replace full: its definition has changed",
    );
  });

  it("runs for new inputs: completely, or incrementally", () => {
    const inputs = { "Model/a": "2", "x.csv": "f" };
    const stamp = (spec: ModelSpec) => ({ stamp: stampOf(spec, { inputs: { "Model/a": "1", "x.csv": "f" } }) });
    expect(decided(table, stamp(table), { inputs })).toBe("replace full: Model/a has changed");
    expect(decided(incremental, stamp(incremental), { inputs })).toBe("increment: Model/a has changed");
    expect(decided(view, stamp(view), { inputs })).toBe("view full: Model/a has changed");
  });

  it("does not run for refs if they are no trigger, but for files", () => {
    const quiet = { ...table, refresh: { onRefs: false, disabled: false } };
    const stamp = stampOf(table, { inputs: { "Model/a": "1", "x.csv": "f" } });
    expect(decided(quiet, { stamp }, { inputs: { "Model/a": "2", "x.csv": "f" } })).toMatch(/^none/);
    expect(decided(quiet, { stamp }, { inputs: { "Model/a": "1", "x.csv": "g" } })).toBe(
      "replace full: x.csv has changed",
    );
  });

  it("runs when its schedule is due, once for all missed times [7]", () => {
    const hourly = { ...table, refresh: { onRefs: true, disabled: false, cron: "0 * * * *" } };
    const stamp = stampOf(table, { builtOn: NOW - 5 * 3_600_000 });
    expect(decided(hourly, { stamp })).toBe("replace full: its schedule was due at 2024-01-10T08:00:00.000Z");
    expect(decided(hourly, { stamp: stampOf(table, { builtOn: NOW }) })).toMatch(/none: .*due at 2024-01-10T13:00:00/);
    const every = { ...incremental, refresh: { onRefs: true, disabled: false, everyMs: 1_000 } };
    expect(decided(every, { stamp: stampOf(incremental, { builtOn: NOW - 1_000 }) })).toMatch(
      /^increment: its schedule/,
    );
  });

  it("does what is requested, and names the requests that this fulfils", () => {
    const requests = (...some: TableFacts["requests"]) => ({ requests: some });
    expect(decideModel(question(incremental, requests({ id: "a", full: false })))).toMatchObject({
      action: "increment",
      fulfils: ["a"],
    });
    expect(
      decideModel(question(incremental, requests({ id: "a", full: false }, { id: "b", full: true }))),
    ).toMatchObject({
      action: "replace",
      full: true,
      fulfils: ["a", "b"],
    });
  });

  it("waits for a manual refresh in modes manual and patch while nothing is built [39]", () => {
    for (const changeMode of ["manual", "patch"] as const) {
      const spec = { ...incremental, changeMode };
      const { stamp: _, ...never } = question(spec, { type: "absent" }).facts;
      const paused = decideModel({ ...question(spec), facts: never });
      expect(paused).toMatchObject({ action: "paused", reason: expect.stringMatching(/paused.*manually trigger/) });
      const asked = { ...never, requests: [{ id: "r", full: true }] };
      expect(decideModel({ ...question(spec), facts: asked })).toMatchObject({ action: "replace", fulfils: ["r"] });
    }
  });

  it("after a change waits in mode manual, and keeps loaded data in mode patch", () => {
    const old = { stamp: stampOf(incremental, { specHash: "old" }) };
    expect(decided({ ...incremental, changeMode: "manual" }, old)).toMatch(/^paused/);
    expect(decided({ ...incremental, changeMode: "patch" }, old)).toMatch(/^adopt: its definition has changed/);
    const asked = { ...old, requests: [{ id: "r", full: false }] };
    expect(decided({ ...incremental, changeMode: "patch" }, asked)).toBe("increment: a refresh was asked for");
  });

  it("runs only tests if only they have changed [41]", () => {
    expect(decided(table, { stamp: stampOf(table, { testHash: "old" }) })).toBe("tests: its tests have changed");
  });

  it("leaves a disabled model as it is", () => {
    expect(decided({ ...table, refresh: { onRefs: true, disabled: true } }, { type: "absent" })).toBe(
      "none: its refresh is disabled",
    );
  });

  it("shares the table of the main schema if definition and inputs are the same", () => {
    const main = stampOf(table, { outputVersion: "m" });
    const { stamp: _, ...never } = question(table, { type: "absent" }).facts;
    expect(decideModel({ ...question(table), facts: never, main })).toMatchObject({ action: "share" });
    expect(decided(table, { type: "view", stamp: stampOf(table, { outputVersion: "m" }) }, { main })).toMatch(/^none/);
    expect(
      decideModel({ ...question(table), facts: never, main: stampOf(table, { specHash: "other" }) }),
    ).toMatchObject({ action: "replace", reason: "its definition has changed" });
  });

  it("says what has changed if a table was shared with the main schema", () => {
    const main = stampOf(table);
    const shared = (stamp: Partial<Stamp>) => ({ type: "view", stamp: stampOf(table, stamp) }) as const;
    expect(decided(table, shared({ specHash: "old" }), { main: stampOf(table, { specHash: "old" }) })).toBe(
      "replace full: its definition has changed",
    );
    const inputs = { "Model/a": "2" };
    expect(decided(table, shared({}), { main, inputs })).toBe("replace full: Model/a has changed");
    expect(decided(table, shared({}), { main: stampOf(table, { specHash: "new" }) })).toBe(
      "replace full: the table of the main schema has changed",
    );
  });

  it("continues with partitions that are not loaded, without looking for new ones", () => {
    const partitions = {
      type: "sql",
      sql: view.input.type === "sql" ? view.input.sql : undefined!,
      concurrency: 1,
    } as const;
    const spec = modelSpec("t", "SELECT 1", { incremental: true, partitions });
    const ledger = [
      { key: "a", values: {}, executedOn: 1 },
      { key: "b", values: {} },
    ];
    expect(decideModel(question(spec, {}, { partitions: ledger }))).toMatchObject({
      action: "partitions",
      full: false,
      lists: false,
    });
    expect(decided(spec, {}, { partitions: [ledger[0]!, { key: "b", values: {}, skipped: true }] })).toMatch(/^none/);
    const asked = { requests: [{ id: "r", full: false, partitions: ["a"] }] };
    expect(decideModel(question(spec, asked, { partitions: ledger }))).toMatchObject({
      keys: ["a"],
      lists: false,
      fulfils: ["r"],
    });
  });
});
