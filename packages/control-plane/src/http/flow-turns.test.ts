import { afterInput } from "setpoint/clock";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { FlowTurns } from "./flow-turns.js";

const nextTurn = (): Promise<void> => new Promise((resolve) => afterInput(resolve));

/** A clock: requests take time without waiting. */
class StepTime extends VirtualClock {
  tookMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.tookMs;
  }
}

/** A server of requests, with those that it has started in each turn. */
function server(): { send: (flow: string, ms: number) => void; begun: string[]; turns: FlowTurns } {
  const time = new StepTime();
  const turns = new FlowTurns(time);
  const begun: string[] = [];
  const begin = (flow: string, ms: number): void =>
    turns.counted(flow, () => {
      begun.push(flow);
      time.tookMs += ms;
    });
  return {
    begun,
    turns,
    send: (flow, ms) => {
      const turn = turns.turn(flow);
      if (turn === undefined) begin(flow, ms);
      else void turn.then(() => begin(flow, ms));
    },
  };
}

describe("turns of flows", () => {
  it("start all requests at once if they are quick", () => {
    const { send, begun, turns } = server();
    using _ = turns;
    for (let request = 0; request < 40; request++) send(request % 2 === 0 ? "a" : "b", 0.1);
    expect(begun).toHaveLength(40);
  });

  it("make slow requests of one flow wait for each other, and others for one of them", async () => {
    const { send, begun, turns } = server();
    using _ = turns;
    for (let request = 0; request < 30; request++) send("hostile", 10);
    expect(begun).toEqual(["hostile"]);
    const slowSince: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      const before = begun.length;
      send("honest", 0.1);
      await nextTurn();
      await nextTurn();
      const meanwhile = begun.slice(before);
      expect(meanwhile[0]).toBe("honest");
      slowSince.push(meanwhile.filter((flow) => flow === "hostile").length);
    }
    // Once the duration of its requests is known, no two of them run in one turn.
    expect(slowSince.slice(2).every((count) => count <= 2)).toBe(true);
  });

  it("share time evenly, whatever one request takes", async () => {
    const { send, begun, turns } = server();
    using _ = turns;
    for (let request = 0; request < 20; request++) send("slow", 20);
    for (let request = 0; request < 200; request++) send("quick", 2);
    for (let turn = 0; turn < 80; turn++) await nextTurn();
    const lastQuick = begun.lastIndexOf("quick");
    const slowBefore = begun.slice(0, lastQuick).filter((flow) => flow === "slow").length;
    // 200 × 2 ms take as long as 20 × 20 ms.
    expect(slowBefore).toBeGreaterThan(8);
    expect(begun.slice(0, 40).filter((flow) => flow === "quick").length).toBeGreaterThan(20);
  });

  it("give a new flow no more than the others from then on", async () => {
    const { send, begun, turns } = server();
    using _ = turns;
    for (let request = 0; request < 60; request++) send("old", 6);
    for (let turn = 0; turn < 30; turn++) await nextTurn();
    const before = begun.length;
    for (let request = 0; request < 20; request++) send("new", 6);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    const since = begun.slice(before);
    expect(since.filter((flow) => flow === "old").length).toBeGreaterThan(since.length / 3);
  });

  it("start every request once, and reset when nobody waits", async () => {
    const { send, begun, turns } = server();
    using _ = turns;
    for (let request = 0; request < 50; request++) send(`flow ${request % 7}`, request % 3 === 0 ? 9 : 0.2);
    for (let turn = 0; turn < 60; turn++) await nextTurn();
    expect(begun).toHaveLength(50);
    expect(turns.turn("flow 0")).toBeUndefined();
  });

  it("count a request that throws", () => {
    const time = new StepTime();
    using turns = new FlowTurns(time);
    const failing = (): never => {
      time.tookMs += 10;
      throw new Error("no");
    };
    expect(() => turns.counted("a", failing)).toThrow("no");
    expect(turns.turn("a")).toBeInstanceOf(Promise);
  });

  it("let all continue when the server stops", async () => {
    const { send, begun, turns } = server();
    for (let request = 0; request < 5; request++) send("a", 10);
    turns[Symbol.dispose]();
    await nextTurn();
    expect(begun).toHaveLength(5);
  });
});
