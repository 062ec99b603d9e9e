import { afterInput, type Clock } from "setpoint/clock";
import { partsOf } from "../registry/body/body-parts.js";

/** Bodies of this many bytes and more are worked on one after the other. */
const HEAVY_BYTES = 128 * 1024;
/** So are smaller ones of this many parts, */
const HEAVY_PARTS = 2_000;
const FEWEST_BYTES = 8 * 1024;
/** and requests whose path and query are this long. */
const HEAVY_TARGET = 8 * 1024;
/** After work on a heavy request others have this many times as long, where there are any. */
const REST = 4;
const LONGEST_REST_MS = 1_000;

/** Whether a request is so large that others should not wait for several like it. */
export function isHeavy(targetLength: number, body: Uint8Array): boolean {
  if (targetLength >= HEAVY_TARGET || body.byteLength >= HEAVY_BYTES) return true;
  return body.byteLength >= FEWEST_BYTES && partsOf(body, HEAVY_PARTS) >= HEAVY_PARTS;
}

/**
 * Heavy requests, one for each turn of the event loop: a step of one takes tens of milliseconds, and other requests are
 * not to wait for more than one step. Flows take turns. While others have requests, they get most of the time.
 */
export class HeavyLane implements Disposable {
  readonly #clock: Clock;
  /** By flow, the one whose turn is next first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isUnderWay = false;
  /** Whose step runs, and whether anybody else had a light request since it began. */
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

  /** A light request of this flow has begun. */
  noteLight(flow: string): void {
    if (flow !== this.#current) this.#hasOthers = true;
  }

  /** Lets all go on. */
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
      // What has come in during the step is noted at the end of the turn after it.
      afterInput(() => this.#after(tookMs));
    });
  };

  #after(tookMs: number): void {
    const restMs = this.#hasOthers ? Math.min(tookMs * REST, LONGEST_REST_MS) : 0;
    if (restMs === 0) this.#next();
    else this.#rest = this.#clock.timer(restMs, this.#next).unref();
  }
}
