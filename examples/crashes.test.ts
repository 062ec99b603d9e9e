import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { type Scene, scenes, stateOf } from "./scenes.testing.js";

/** More writes than any example makes. */
const NEVER = 1_000_000;

/** Plays a story. After the `crashAt`th write the process crashes, and another one starts. */
async function play(scene: Scene, crashAt: number): Promise<{ hasCrashed: boolean; end: unknown }> {
  await using env = await TestEnvironment.create({ ...scene.options, seed: crashAt });
  const first = env.operator;
  first.crashAfterWrite(crashAt);
  let isRestarted = false;
  for (const step of scene.story) {
    await step(env);
    await env.advance("30s");
    if (!first.hasCrashed || isRestarted) continue;
    isRestarted = true;
    await env.start();
    // The lease of the crashed process expires first.
    await env.advance("30s");
  }
  return { hasCrashed: first.hasCrashed, end: [await stateOf(env, scene), scene.outside?.()] };
}

describe("a crash after every single write of the examples", () => {
  it.each(Object.keys(scenes))(
    "%s reaches the same end state",
    async (name) => {
      const { end } = await play(scenes[name]!(), NEVER);
      for (let crashAt = 1; ; crashAt++) {
        const crashed = await play(scenes[name]!(), crashAt);
        expect(crashed.end, `crash after write ${crashAt}`).toEqual(end);
        if (crashed.hasCrashed) continue;
        expect(crashAt - 1).toBe(scenes[name]!().writes);
        break;
      }
    },
    60_000,
  );
});
