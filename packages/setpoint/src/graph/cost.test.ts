import { describe, expect, it } from "vitest";
import { emptyState } from "./draft.js";
import { reduce } from "./reduce.js";
import type { ResourceName } from "./resource.js";
import type { Edit, State } from "./state.js";

const named = (at: number): ResourceName => ({ kind: "Node", name: String(at).padStart(6, "0") });
const SIDE = 10;

/** The refs of the node at a place; a lattice has rows of ten, each node on two of the row before. */
const SHAPES = {
  chain: (at: number) => (at === 0 ? [] : [at - 1]),
  "fan-out": (at: number) => (at === 0 ? [] : [0]),
  lattice: (at: number) =>
    at < SIDE ? [] : [...new Set([at - SIDE, at - SIDE - (at % SIDE) + ((at + 1) % SIDE)])].sort((a, b) => a - b),
} as const;

/** A graph of that many nodes under a lock, so that nothing runs; each edit is a step of its own. */
function built(refsOf: (at: number) => readonly number[], count: number): { state: State; operations: number } {
  let { state } = reduce(emptyState({}), { type: "lock", nowMs: 0 });
  let operations = 0;
  for (let at = 0; at < count; at++) {
    const edit: Edit = {
      type: "create",
      name: named(at),
      refs: refsOf(at).map(named),
      paths: [],
      tags: [],
      hidden: false,
      spec: {},
      specHash: "a",
      weights: {},
    };
    const step = reduce(state, { type: "edit", edits: [edit], nowMs: 0 });
    state = step.state;
    operations += step.operations;
  }
  return { state, operations };
}

describe.each(Object.entries(SHAPES))("on a %s", (_, refsOf) => {
  it.each([10, 1_000, 100_000])("an edit of a leaf costs what it touches, of %i nodes", (count) => {
    const { state, operations } = built(refsOf, count);
    expect(operations / count).toBeLessThan(40);
    const edit: Edit = { type: "update", name: named(count - 1), change: { spec: { value: 1 }, specHash: "b" } };
    expect(reduce(state, { type: "edit", edits: [edit], nowMs: 0 }).operations).toBeLessThan(40);
  });
});
