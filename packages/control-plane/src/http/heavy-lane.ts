import { afterInput, type Clock } from "setpoint/clock";
import { partsOf } from "../registry/body/body-parts.js";

/** Bodies of at least this size are heavy. */
const HEAVY_BYTES = 128 * 1024;
/** Smaller bodies with at least this many values are heavy too. */
const HEAVY_PARTS = 2_000;
const FEWEST_BYTES = 8 * 1024;
/** A request with a longer path and query is heavy too. */
const HEAVY_TARGET = 8 * 1024;
/** Rest after a heavy step, as a multiple of its time, if other requests are there. */
const REST = 4;
const LONGEST_REST_MS = 1_000;

/** Whether a request is so large that others should not wait for several of its kind. */
export function isHeavy(targetLength: number, body: Uint8Array): boolean {
  if (targetLength >= HEAVY_TARGET || body.byteLength >= HEAVY_BYTES) return true;
  return body.byteLength >= FEWEST_BYTES && partsOf(body, HEAVY_PARTS) >= HEAVY_PARTS;
}

/**
 * Runs heavy requests, one step per event loop turn: a step takes tens of milliseconds, and other requests should wait
 * for at most one step. Flows take turns. While other flows have requests, they get most of the time.
 */
export class HeavyLane implements Disposable {
  readonly #clock: Clock;
  /** Waiting steps by flow. The flow whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isUnderWay = false;
  /** The flow of the running step, and whether another flow began a light request since. */
  #current = "";
  #hasOthers = false;
  #rest: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a step of this flow's request may run. */
  turn(flow: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(flow);
      if (waiting === undefined) this.#waiting.set(flow, [resolve]);
      else waiting.push(resolve);
      if (this.#isUnderWay) return;
      this.#isUnderWay = true;
      afterInput(this.#next);
    });
  }

  /** Records that a light request of this flow began. */
  noteLight(flow: string): void {
    if (flow !== this.#current) this.#hasOthers = true;
  }

  /** Lets all waiting requests continue. */
  [Symbol.dispose](): void {
    this.#rest?.[Symbol.dispose]();
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve();
    this.#waiting.clear();
    this.#isUnderWay = false;
  }

  readonly #next = (): void => {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isUnderWay = false;
      return;
    }
    const [flow, waiting] = first;
    const resolve = waiting.shift()!;
    this.#waiting.delete(flow);
    if (waiting.length > 0) this.#waiting.set(flow, waiting);
    this.#current = flow;
    this.#hasOthers = false;
    const startedMs = this.#clock.monotonic();
    resolve();
    afterInput(() => {
      const tookMs = this.#clock.monotonic() - startedMs;
      // Input that arrives during the step is only noted at the end of the next turn.
      afterInput(() => this.#after(tookMs));
    });
  };

  #after(tookMs: number): void {
    const restMs = this.#hasOthers ? Math.min(tookMs * REST, LONGEST_REST_MS) : 0;
    if (restMs === 0) this.#next();
    else this.#rest = this.#clock.timer(restMs, this.#next).unref();
  }
}
