import { afterInput } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import { Turn } from "./turn.js";

const endOfTurn = (): Promise<void> => new Promise((resolve) => afterInput(resolve));

describe("Turn", () => {
  it("runs the callbacks of one turn in order, all of them before any consequence", async () => {
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

  it("leaves callbacks that arrive meanwhile to the next turn", async () => {
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
