// Tests import this module as "fast-check": the library with the run's seed, so that a failing run can be repeated.
// SETPOINT_SEEDS=50 runs each property under that many seeds, one after the other, to find rare failures.
import library from "../../node_modules/fast-check/lib/fast-check.js";

const seed = Number(process.env.SETPOINT_SEED);
if (Number.isInteger(seed)) library.configureGlobal({ ...library.readConfigureGlobal(), seed });

const seeds = Number(process.env.SETPOINT_SEEDS ?? 1);

/** Like the library's own: returns a promise for an asynchronous property. A given seed or path is not varied. */
const assert: typeof library.assert = ((property: never, parameters?: { seed?: number }) => {
  const first = parameters?.seed ?? library.readConfigureGlobal().seed;
  if (seeds <= 1 || first === undefined || parameters?.seed !== undefined) return library.assert(property, parameters);
  const under = (turn: number) => library.assert(property, { ...parameters, seed: (first + turn * 7919) | 0 });
  const begun: unknown = under(0);
  if (begun instanceof Promise) return begun.then(() => theRest(under));
  for (let turn = 1; turn < seeds; turn += 1) under(turn);
}) as typeof library.assert;

async function theRest(under: (turn: number) => unknown): Promise<void> {
  for (let turn = 1; turn < seeds; turn += 1) await under(turn);
}

export * from "../../node_modules/fast-check/lib/fast-check.js";
export { assert };
export default { ...library, assert };
