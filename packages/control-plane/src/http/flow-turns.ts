import { afterInput, type Clock } from "setpoint/clock";

/** What light requests may take of one turn of the event loop; the rest of them waits for the next. */
const SLICE_MS = 5;
/** How much the latest request says of what the next one of its flow will take. */
const LATEST = 0.5;
/** What a request takes of a flow that nothing is known of. */
const FIRST_MS = 1;

interface FlowTime {
  /** The time that the flow has used since requests began to wait. */
  usedMs: number;
  /** What one of its requests takes, about. */
  eachMs: number;
  readonly waiting: (() => void)[];
}

/**
 * Shares the time of the event loop among flows. Requests begin at once, as long as those of one turn are quick
 * together. Where they are not, whoever has taken least so far goes first: a flow that sends a hundred requests of ten
 * milliseconds waits for its own, and others for one of them.
 */
export class FlowTurns implements Disposable {
  readonly #clock: Clock;
  /** Flows that have used time since requests began to wait. */
  readonly #flows = new Map<string, FlowTime>();
  #waiting = 0;
  /** What the flow whose turn was last had taken before: one that comes anew has no more to claim. */
  #servedMs = 0;
  #spentMs = 0;
  #isUnderWay = false;
  #isDisposed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a request of this flow may begin; undefined where that is now. */
  turn(flow: string): Promise<void> | undefined {
    if (this.#isDisposed || (this.#waiting === 0 && this.#spentMs < SLICE_MS)) return undefined;
    return new Promise((resolve) => {
      this.#timeOf(flow).waiting.push(resolve);
      this.#waiting++;
      this.#followUp();
    });
  }

  /** Calls `begin`, and counts what it takes. */
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

  /** Lets all go on. */
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

  /** A new turn: as many go on as it will probably have time for, one at least. */
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

  /** Of those who wait, the one who has taken least, what has begun in this turn included. */
  #least(begun: ReadonlyMap<FlowTime, number>): FlowTime {
    let [least, leastMs]: [FlowTime | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const time of this.#flows.values()) {
      const usedMs = time.usedMs + (begun.get(time) ?? 0);
      if (time.waiting.length > 0 && usedMs < leastMs) [least, leastMs] = [time, usedMs];
    }
    return least!;
  }
}
