import { afterInput, type Clock } from "setpoint/clock";

/** Time budget of light requests per event loop turn. Further requests wait for the next turn. */
const SLICE_MS = 5;
/** Weight of the latest request in a flow's estimated time per request. */
const LATEST = 0.5;
/** Estimated time of a request in a new flow. */
const FIRST_MS = 1;

interface FlowTime {
  /** Time that the flow used since requests began to wait. */
  usedMs: number;
  /** Estimated time per request. */
  eachMs: number;
  readonly waiting: (() => void)[];
}

/**
 * Shares the event loop among flows. Requests start at once while those of one turn are fast in total. Otherwise the
 * flow that used the least time goes first. A flow with a hundred requests of ten milliseconds waits for its own
 * requests, and other flows wait for one of them.
 */
export class FlowTurns implements Disposable {
  readonly #clock: Clock;
  /** Flows that used time since requests began to wait. */
  readonly #flows = new Map<string, FlowTime>();
  #waiting = 0;
  /** The time used by the flow served last. A new flow starts from it, so that it gets no advantage. */
  #servedMs = 0;
  #spentMs = 0;
  #isUnderWay = false;
  #isDisposed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a request of this flow may start. Undefined if it may start now. */
  turn(flow: string): Promise<void> | undefined {
    if (this.#isDisposed || (this.#waiting === 0 && this.#spentMs < SLICE_MS)) return undefined;
    return new Promise((resolve) => {
      this.#timeOf(flow).waiting.push(resolve);
      this.#waiting++;
      this.#followUp();
    });
  }

  /** Calls `begin` and charges its time to the flow. */
  counted<Result>(flow: string, begin: () => Result): Result {
    const startedMs = this.#clock.monotonic();
    try {
      return begin();
    } finally {
      const tookMs = this.#clock.monotonic() - startedMs;
      const time = this.#timeOf(flow);
      time.usedMs += tookMs;
      time.eachMs += (tookMs - time.eachMs) * LATEST;
      this.#spentMs += tookMs;
      this.#followUp();
    }
  }

  /** Lets all waiting requests continue. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const { waiting } of this.#flows.values()) for (const begin of waiting.splice(0)) begin();
    this.#waiting = 0;
  }

  #timeOf(flow: string): FlowTime {
    let time = this.#flows.get(flow);
    if (time === undefined) {
      time = { usedMs: 0, eachMs: FIRST_MS, waiting: [] };
      this.#flows.set(flow, time);
    }
    if (time.waiting.length === 0) time.usedMs = Math.max(time.usedMs, this.#servedMs);
    return time;
  }

  #followUp(): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    afterInput(this.#next);
  }

  /** Starts a turn: as many requests as probably fit into it, at least one. */
  readonly #next = (): void => {
    this.#isUnderWay = false;
    this.#spentMs = 0;
    if (this.#waiting === 0) {
      this.#flows.clear();
      this.#servedMs = 0;
      return;
    }
    const begun = new Map<FlowTime, number>();
    for (let expectedMs = 0; this.#waiting > 0 && expectedMs < SLICE_MS; ) {
      const time = this.#least(begun);
      this.#servedMs = Math.max(this.#servedMs, time.usedMs);
      begun.set(time, (begun.get(time) ?? 0) + time.eachMs);
      expectedMs += time.eachMs;
      this.#waiting--;
      time.waiting.shift()!();
    }
    this.#followUp();
  };

  /** The waiting flow with the least time used, including estimates for requests started in this turn. */
  #least(begun: ReadonlyMap<FlowTime, number>): FlowTime {
    let [least, leastMs]: [FlowTime | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const time of this.#flows.values()) {
      const usedMs = time.usedMs + (begun.get(time) ?? 0);
      if (time.waiting.length > 0 && usedMs < leastMs) [least, leastMs] = [time, usedMs];
    }
    return least!;
  }
}
