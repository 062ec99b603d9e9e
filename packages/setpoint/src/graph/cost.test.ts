import { describe, expect, it } from "vitest";
import { emptyState } from "./draft.js";
import { reduce, restore } from "./reduce.js";
import { type ResourceName, resourceKey } from "./resource.js";
import type { Edit, Event, GraphRecord, State } from "./state.js";

const named = (at: number): ResourceName => ({ kind: "Node", name: String(at).padStart(6, "0") });
const WIDTH = 10;
/** The limit of operations for each node and edge that an edit touches, whatever the size of the graph. */
const FACTOR = 12;

/** The refs of the node at an index; a lattice has rows of ten, and each node refers to two of the previous row. */
const SHAPES: Readonly<Record<string, (at: number) => readonly number[]>> = {
  chain: (at) => (at === 0 ? [] : [at - 1]),
  "fan-out": (at) => (at === 0 ? [] : [0]),
  lattice: (at) =>
    at < WIDTH ? [] : [at - WIDTH, at - WIDTH - (at % WIDTH) + ((at + 1) % WIDTH)].sort((left, right) => left - right),
};

function recordOf(at: number, refs: readonly ResourceName[]): GraphRecord {
  const specHash = ["a", ...refs.map(resourceKey)].join("\n");
  const versions = { version: 1, specVersion: 1, stateVersion: 1 };
  const times = { createdOn: 0, specUpdatedOn: 0, stateUpdatedOn: 0 };
  return {
    meta: { name: named(at), refs, paths: [], tags: [], hidden: false, ...versions, ...times },
    spec: {},
    specHash,
    attempt: 0,
    trace: { specHash, inputs: refs.map(() => "ok 1"), outcome: "done", outputVersion: "1", warnings: [], runs: 1 },
  };
}

/** A graph at rest, as after a restart without changes, and the cost of the restart. */
function atRest(refsOf: (at: number) => readonly number[], count: number): { state: State; operations: number } {
  const records = Array.from({ length: count }, (_, at) => {
    return { id: resourceKey(named(at)), record: recordOf(at, refsOf(at).map(named)) };
  });
  const step = restore(emptyState({ Node: { whenRefsFinish: "changed" } }), records, () => ({}), 0);
  return step;
}

/** Makes an edit and lets all its runs return the same output as before. */
function costOf(before: State, edit: Edit): { readonly operations: number; readonly runs: number } {
  let [state, operations, runs] = [before, 0, 0];
  const events: Event[] = [{ type: "edit", edits: [edit], nowMs: 0 }];
  for (const event of events) {
    const step = reduce(state, event);
    state = step.state;
    operations += step.operations;
    for (const effect of step.effects) {
      if (effect.type !== "start") continue;
      runs++;
      events.push({ type: "finished", run: effect.run, result: { outcome: "done", outputVersion: "1" }, nowMs: 0 });
    }
  }
  return { operations, runs };
}

/** The number of nodes below one, including itself, and of the refs between them. */
function touched(refsOf: (at: number) => readonly number[], count: number, start: number): number {
  const reached = new Set([start]);
  let edges = 0;
  for (let at = start + 1; at < count; at++) {
    const above = refsOf(at).filter((ref) => reached.has(ref)).length;
    if (above > 0) reached.add(at);
    edges += above;
  }
  return reached.size + edges;
}

/** Only detects a hang: the test measures operations, not time. */
const TIMEOUT_MS = 300_000;

describe.each(Object.entries(SHAPES))("on a %s", { timeout: TIMEOUT_MS }, (_, refsOf) => {
  it.each([10, 1_000, 100_000])("the cost of an edit depends on what it touches, with %i nodes", (count) => {
    const { state, operations } = atRest(refsOf, count);
    expect(operations).toBeLessThan(FACTOR * touched(refsOf, count, 0) + FACTOR * count);
    const change = { spec: { value: 1 }, specHash: "b" };
    for (const at of count > 10_000 ? [0, count - 1] : [0, count >> 1, count - 1]) {
      const bound = FACTOR * (touched(refsOf, count, at) + refsOf(at).length + 1);
      const { operations, runs } = costOf(state, { type: "update", name: named(at), change });
      expect(operations, `an update of ${at}`).toBeLessThan(bound);
      expect(runs).toBe(1);
    }
  });

  it("the cost of new refs depends on what they touch", () => {
    const count = 1_000;
    const { state } = atRest(refsOf, count);
    for (const at of [count >> 1, count - 1]) {
      const bound = FACTOR * (touched(refsOf, count, at) + 2);
      const { operations } = costOf(state, { type: "update", name: named(at), change: { refs: [] } });
      expect(operations, `at ${at}`).toBeLessThan(bound);
    }
  });

  it("the cost of a new leaf does not depend on the size of the graph", () => {
    const costs = [10, 5_000].map((count) => {
      const { state } = atRest(refsOf, count);
      const meta = { paths: [], tags: [], hidden: false, weights: {} };
      const refs = [named(count - 1)];
      return costOf(state, { type: "create", name: named(count), refs, ...meta, spec: {}, specHash: "a" }).operations;
    });
    expect(Math.max(...costs)).toBeLessThan(3 * FACTOR);
  });
});
