import fc from "fast-check";
import { it } from "vitest";
import { emptyState } from "./draft.js";
import { explain } from "./explain.js";
import { memoryStore } from "./memory-store.js";
import { holdsAllInvariants, scripts } from "./properties.testing.js";
import { reduce, restore } from "./reduce.js";

const PARTS = { reduce, restore, explain, emptyState, memoryStore };

/** `npm run soak` runs 10,000; this is a thirtieth of it. */
const RUNS = 330;

it("holds the invariants over random edits, failures, cancellations, renames and crashes", () => {
  fc.assert(
    fc.property(scripts(60), (script) => holdsAllInvariants(PARTS, script)),
    { numRuns: Number(process.env.GRAPH_RUNS ?? RUNS), endOnFailure: process.env.GRAPH_QUICK === "1" },
  );
}, 300_000);
