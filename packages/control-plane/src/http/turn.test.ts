import { afterInput } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import { Turn } from "./turn.js";

const endOfTurn = (): Promise<void> => new Promise((resolve) => afterInput(resolve));

describe("Turn", () => {
  it("takes up what came in one turn in its order, all of it before what any of it leads to", async () => {
    const turn = new Turn();
    const seen: string[] = [];
    for (const name of ["a", "b"]) {
      turn.take(() => {
        seen.push(name);
        void Promise.resolve().then(() => seen.push(`after ${name}`));
      });
    }
    expect(seen).toEqual([]);
    await endOfTurn();
    expect(seen).toEqual(["a", "b", "after a", "after b"]);
  });

  it("leaves what comes meanwhile to the next turn", async () => {
    const turn = new Turn();
    const seen: string[] = [];
    turn.take(() => {
      seen.push("first");
      turn.take(() => seen.push("second"));
    });
    await endOfTurn();
    expect(seen).toEqual(["first"]);
    await endOfTurn();
    expect(seen).toEqual(["first", "second"]);
  });
});
