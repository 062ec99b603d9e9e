import { errorAnswer, TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { type Scene, scenes, stateOf } from "./scenes.testing.js";

/** No write is answered with a conflict. */
const NEVER = 0;

/** Plays a story in which the server answers the `conflictAt`th write of the operator with a conflict. */
async function play(scene: Scene, conflictAt: number): Promise<{ hasMet: boolean; end: unknown }> {
  await using env = await TestEnvironment.create({ ...scene.options, seed: 1 + conflictAt });
  let writes = 0;
  using _fault = env.fault(({ method, path }) => {
    const isWrite = method !== "GET" && !/\/(events|leases|[a-z]+reviews)(\/|\?|$)/.test(path);
    return isWrite && ++writes === conflictAt ? errorAnswer(409, "Conflict") : undefined;
  });
  for (const step of scene.story) {
    await step(env);
    await env.advance("30s");
  }
  return { hasMet: conflictAt > 0 && writes >= conflictAt, end: [await stateOf(env, scene), scene.outside?.()] };
}

describe("a conflict at every single write of the examples", () => {
  it.each(Object.keys(scenes))(
    "%s reaches the same end state",
    async (name) => {
      const { end } = await play(scenes[name]!(), NEVER);
      for (let conflictAt = 1; ; conflictAt++) {
        const met = await play(scenes[name]!(), conflictAt);
        expect(met.end, `conflict at write ${conflictAt}`).toEqual(end);
        if (met.hasMet) continue;
        expect(conflictAt - 1).toBe(scenes[name]!().writes);
        break;
      }
    },
    60_000,
  );
});
