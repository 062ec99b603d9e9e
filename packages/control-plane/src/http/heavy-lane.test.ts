import { afterInput } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { HeavyLane, isHeavy } from "./heavy-lane.js";

const nextTurn = (): Promise<void> => new Promise((resolve) => afterInput(resolve));
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await nextTurn();
};

/** A clock: steps take time without waiting. */
class StepTime extends VirtualClock {
  tookMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.tookMs;
  }
}

describe("the lane of heavy requests", () => {
  it("runs one step per turn of the event loop, and flows take turns", async () => {
    using lane = new HeavyLane(new VirtualClock());
    const steps: string[] = [];
    const step = (flow: string) => lane.turn(flow).then(() => void steps.push(flow));
    for (const flow of ["hostile", "hostile", "hostile", "honest", "other"]) void step(flow);
    await nextTurn();
    expect(steps).toHaveLength(1);
    await turns(20);
    expect(steps).toEqual(["hostile", "honest", "other", "hostile", "hostile"]);
  });

  it("rests after a step while others have requests, four times as long as the step took", async () => {
    const time = new StepTime();
    using lane = new HeavyLane(time);
    let steps = 0;
    const step = () =>
      lane.turn("hostile").then(() => {
        steps++;
        time.tookMs += 10;
        lane.noteLight("honest");
      });
    void step();
    void step();
    await turns(10);
    expect(steps).toBe(1);
    await time.advance(39);
    await turns(10);
    expect(steps).toBe(1);
    await time.advance(1);
    await turns(10);
    expect(steps).toBe(2);
  });

  it("does not rest for requests of the same flow", async () => {
    const time = new StepTime();
    using lane = new HeavyLane(time);
    let steps = 0;
    for (let step = 0; step < 3; step++) {
      void lane.turn("one").then(() => {
        steps++;
        time.tookMs += 10;
        lane.noteLight("one");
      });
    }
    await turns(20);
    expect(steps).toBe(3);
  });

  it("lets all continue when the server stops", async () => {
    const lane = new HeavyLane(new VirtualClock());
    const waiting = [lane.turn("a"), lane.turn("a"), lane.turn("b")];
    lane[Symbol.dispose]();
    await Promise.all(waiting);
  });
});

describe("a heavy request", () => {
  it.each([
    ["a body of many bytes", 10, "x".repeat(128 * 1024), true],
    ["a small body of many parts", 10, "{},".repeat(4_000), true],
    ["a long query", 9_000, "", true],
    ["a body of some bytes", 10, "x".repeat(100 * 1024), false],
    ["nothing", 10, "", false],
  ])("is recognised by its size: %s", (_name, targetLength, body, expected) => {
    expect(isHeavy(targetLength, Buffer.from(body))).toBe(expected);
  });
});
