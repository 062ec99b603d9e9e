import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PATIENCE, ReadyLines } from "./ready-lines.js";

const [HIGH, NORMAL, LOW] = [0, 1, 2];

function linesFor(capacity: number): ReadyLines {
  const lines = new ReadyLines();
  lines.reserve(capacity);
  return lines;
}

function shiftAll(lines: ReadyLines): number[] {
  const slots: number[] = [];
  for (let slot = lines.shift(); slot >= 0; slot = lines.shift()) slots.push(slot);
  return slots;
}

describe("ReadyLines", () => {
  it("serves a lane in order of arrival", () => {
    const lines = linesFor(4);
    for (const slot of [2, 0, 3, 1]) {
      lines.join(slot, 1);
      lines.push(slot, NORMAL);
    }
    expect(shiftAll(lines)).toEqual([2, 0, 3, 1]);
  });

  it("serves lanes in turn, however long one of them is", () => {
    const lines = linesFor(8);
    for (const [slot, lane] of [10, 10, 10, 10, 20, 20, 30].entries()) {
      lines.join(slot, lane);
      lines.push(slot, NORMAL);
    }
    expect(shiftAll(lines)).toEqual([0, 4, 6, 1, 5, 2, 3]);
  });

  it("gives busy lanes shares that differ by one at most", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 6 }), (lengths) => {
        const total = lengths.reduce((sum, length) => sum + length, 0);
        const lines = linesFor(total);
        const laneOf = lengths.flatMap((length, lane) => Array.from({ length }, () => lane));
        laneOf.forEach((lane, slot) => {
          lines.join(slot, lane);
          lines.push(slot, LOW);
        });
        const left = [...lengths];
        const served = lengths.map(() => 0);
        for (const slot of shiftAll(lines)) {
          left[laneOf[slot]!]!--;
          served[laneOf[slot]!]!++;
          const shares = served.filter((_, lane) => left[lane]! > 0);
          if (shares.length > 1) expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
        }
        expect(served).toEqual(lengths);
      }),
    );
  });

  it("lets a lower band wait, but not forever", () => {
    const lines = linesFor(100);
    for (let slot = 0; slot < 100; slot++) lines.join(slot, 0);
    for (let slot = 0; slot < 40; slot++) lines.push(slot, HIGH);
    lines.push(50, NORMAL);
    lines.push(60, LOW);
    const order = shiftAll(lines);
    expect(order.slice(0, PATIENCE)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(order.slice(PATIENCE, PATIENCE + 2)).toEqual([50, 60]);
  });

  it("removes a slot from the middle of its line, and its lane from the turn", () => {
    const lines = linesFor(8);
    for (const [slot, lane] of [1, 1, 1, 2, 3].entries()) {
      lines.join(slot, lane);
      lines.push(slot, NORMAL);
    }
    lines.remove(1, NORMAL);
    lines.remove(3, NORMAL);
    expect(lines.size).toBe(3);
    lines.push(3, HIGH);
    expect(shiftAll(lines)).toEqual([3, 0, 4, 2]);
  });
});
