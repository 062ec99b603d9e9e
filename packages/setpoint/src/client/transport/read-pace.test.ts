import { describe, expect, it } from "vitest";
import { afterInput, systemClock } from "../../clock/system-clock.js";
import { ReadPace } from "./read-pace.js";

const endOfTurn = (): Promise<void> => new Promise((resolve) => afterInput(resolve));

function source() {
  const state = { isReading: true };
  const pace = new ReadPace({ pause: () => (state.isReading = false), resume: () => (state.isReading = true) });
  const until = async (isReading: boolean): Promise<void> => {
    while (state.isReading !== isReading) await systemClock.sleep(1);
  };
  return { state, pace, until };
}

describe("pace of reading", () => {
  it("never pauses in a small response", async () => {
    const { state, pace } = source();
    for (let piece = 0; piece < 16; piece++) pace.read(4096);
    await endOfTurn();
    expect(state.isReading).toBe(true);
  });

  it("pauses between the reads of a large response", async () => {
    const { state, pace, until } = source();
    for (let round = 0; round < 3; round++) {
      pace.read(70_000);
      pace.read(4096);
      expect(state.isReading).toBe(true);
      await until(false);
      await until(true);
    }
  });

  it("reads the events after a large list at once", async () => {
    const { state, pace, until } = source();
    pace.read(70_000);
    await until(false);
    await until(true);
    for (let event = 0; event < 7; event++) {
      pace.read(1024);
      await endOfTurn();
      expect(state.isReading).toBe(true);
    }
  });

  it("does not resume after a pause while the reader holds the response", async () => {
    const { state, pace, until } = source();
    pace.read(70_000);
    await until(false);
    pace.hold();
    await systemClock.sleep(20);
    expect(state.isReading).toBe(false);
    pace.release();
    expect(state.isReading).toBe(true);
  });

  it("keeps pausing if the hold ends earlier", async () => {
    const { state, pace, until } = source();
    pace.hold();
    pace.read(70_000);
    await endOfTurn();
    pace.release();
    expect(state.isReading).toBe(false);
    await until(true);
  });

  it("reads at once when a response has ended, and never after it is disposed", async () => {
    const { state, pace, until } = source();
    pace.read(70_000);
    await until(false);
    pace.reset();
    expect(state.isReading).toBe(true);
    pace.read(70_000);
    await until(false);
    pace[Symbol.dispose]();
    await systemClock.sleep(20);
    expect(state.isReading).toBe(false);
  });
});
