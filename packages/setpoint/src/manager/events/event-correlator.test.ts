import { describe, expect, it } from "vitest";
import type { ObjectEvent } from "../../controller/event-recorder.js";
import { EventCorrelator } from "./event-correlator.js";

const metadata = { name: "a", namespace: "n", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const event = (reason: string, message: string): ObjectEvent => ({
  object: { apiVersion: "v1", kind: "Pod", metadata },
  type: "Warning",
  reason,
  message,
});

describe("event correlator", () => {
  it("counts identical events [case 59]", () => {
    const correlator = new EventCorrelator();
    const counts = [1, 2, 3].map((at) => correlator.correlate(event("Failed", "same"), at)?.count);
    expect(counts).toEqual([1, 2, 3]);
  });

  it("combines similar messages from the tenth on [case 59]", () => {
    const correlator = new EventCorrelator();
    const told = Array.from({ length: 12 }, (_, at) => correlator.correlate(event("Failed", `message ${at}`), at)!);
    expect(told[8]!.message).toBe("message 8");
    expect(told[9]!.message).toBe("(combined from similar events): message 9");
    expect(told.slice(9).map(({ count }) => count)).toEqual([1, 2, 3]);
    expect(new Set(told.slice(9).map(({ series }) => series)).size).toBe(1);
  });

  it("limits a flood of one reason, counts what it drops, and lets one through every five minutes [case 59]", () => {
    const correlator = new EventCorrelator();
    const told = Array.from({ length: 40 }, () => correlator.correlate(event("Failed", "same"), 0));
    expect(told.filter((each) => each !== undefined)).toHaveLength(25);
    expect(correlator.dropped).toBe(15);
    expect(correlator.correlate(event("Failed", "same"), 299_999)).toBeUndefined();
    expect(correlator.correlate(event("Failed", "same"), 300_000)).toBeDefined();
  });

  it("never drops the first event of a reason, whatever other reasons did", () => {
    const correlator = new EventCorrelator();
    for (let at = 0; at < 100; at++) correlator.correlate(event("Noisy", `x${at}`), 0);
    expect(correlator.correlate(event("Important", "look"), 0)).toMatchObject({ message: "look", count: 1 });
  });

  it("distinguishes the first event of a reason from later ones, whatever their messages", () => {
    const correlator = new EventCorrelator();
    const told = ["a", "a", "b"].map((message, at) => correlator.correlate(event("Failed", message), at)?.isFirst);
    expect(told).toEqual([true, false, false]);
    expect(correlator.correlate(event("Important", "a"), 3)?.isFirst).toBe(true);
  });
});
