import { describe, expect, it } from "vitest";
import { rollOut, sevenGroupsAtRest } from "./rollout-crash.suite.js";

/** `npm run soak` tries every write. */
describe("a rollout of seven groups", { timeout: 240_000 }, () => {
  it("restarts each pod once, and ends the same after a crash at one of its writes", async () => {
    const from = await sevenGroupsAtRest();
    const { writes, state, restarts } = await rollOut(from, Number.POSITIVE_INFINITY);
    expect(Object.entries(restarts).filter(([name, count]) => count !== (name.endsWith("routers") ? 2 : 1))).toEqual(
      [],
    );
    expect(Object.keys(restarts)).toHaveLength(13);
    const again = await rollOut(from, Math.floor(writes / 2));
    expect(again).toMatchObject({ hasCrashed: true, restarts });
    expect(again.state).toEqual(state);
  });
});
