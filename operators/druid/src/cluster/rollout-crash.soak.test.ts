import { describe, expect, it } from "vitest";
import { rollOut, sevenGroupsAtRest } from "./rollout-crash.suite.js";

const every = Number(process.env.DRUID_CRASH_EVERY ?? 1);
const seed = Number(process.env.SETPOINT_SEED ?? 1);

describe("a rollout of seven groups", () => {
  it(`ends the same after a crash at every ${every === 1 ? "" : `${every}th `}write, and no pod is restarted twice`, async () => {
    const from = await sevenGroupsAtRest();
    const { state, restarts } = await rollOut(from, Number.POSITIVE_INFINITY);
    let tried = 0;
    for (let at = 1 + (seed % every); ; at += every) {
      const again = await rollOut(from, at);
      expect(again.restarts, `crash after write ${at}`).toEqual(restarts);
      expect(again.state, `crash after write ${at}`).toEqual(state);
      if (!again.hasCrashed) break;
      tried += 1;
    }
    console.log(`tried ${tried} crash points`);
    expect(tried).toBeGreaterThan(0);
  });
});
