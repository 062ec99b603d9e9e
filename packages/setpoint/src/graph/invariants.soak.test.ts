import fc from "fast-check";
import { it } from "vitest";
import { emptyState } from "./draft.js";
import { explain } from "./explain.js";
import { memoryStore } from "./memory-store.js";
import { holdsAllInvariants, scripts } from "./properties.testing.js";
import { reduce, restore } from "./reduce.js";

const PARTS = { reduce, restore, explain, emptyState, memoryStore };

/** The number of scripts. SETPOINT_SEED=N repeats a run. */
const RUNS = Number(process.env.GRAPH_RUNS ?? 10_000);

it(`holds the invariants over ${RUNS} random scripts`, () => {
  fc.assert(
    fc.property(scripts(80), (script) => holdsAllInvariants(PARTS, script)),
    { numRuns: RUNS },
  );
});
