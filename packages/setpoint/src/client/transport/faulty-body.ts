import type { Clock } from "../../clock/clock.js";
import { abortedError, transportError } from "./transport-error.js";

/** A fault within a body, after `afterBytes` of it. */
export type BodyFault =
  /** The connection breaks. */
  | { readonly type: "cut"; readonly afterBytes: number }
  /** The body ends as if complete, possibly in the middle of a line. */
  | { readonly type: "truncate"; readonly afterBytes: number }
  /** The body stalls: for `ms`, or until its reader gives up (half open). */
  | { readonly type: "stall"; readonly afterBytes: number; readonly ms?: number }
  /** Adds bytes at the next end of a line, and ends the body. */
  | { readonly type: "append"; readonly afterBytes: number; readonly bytes: Uint8Array };

const NEWLINE = 0x0a;

/** A body with an injected fault. Its reader may leave at any time, even while it stalls. */
export class FaultyBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #inner: AsyncIterator<Uint8Array>;
  readonly #fault: BodyFault;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #left = new AbortController();
  #bytesUntilFault: number;
  #atLineStart = true;
  /** The rest of a chunk. */
  #rest: Uint8Array | undefined;
  #state: "before" | "after" | "ended" = "before";

  constructor(body: AsyncIterable<Uint8Array>, fault: BodyFault, clock: Clock, signal?: AbortSignal) {
    this.#inner = body[Symbol.asyncIterator]();
    this.#fault = fault;
    this.#clock = clock;
    this.#signal = signal;
    this.#bytesUntilFault = fault.afterBytes;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (true) {
      if (this.#state === "ended") return { done: true, value: undefined };
      if (this.#state === "before" && this.#isDue()) {
        const last = await this.#strike();
        if (last) return { done: false, value: last };
        continue;
      }
      const chunk = this.#rest ?? (await this.#read());
      this.#rest = undefined;
      if (chunk) return { done: false, value: this.#pass(chunk) };
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#state = "ended";
    this.#left.abort();
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #read(): Promise<Uint8Array | undefined> {
    const result = await this.#inner.next();
    if (!result.done) return result.value;
    this.#state = "ended";
    return undefined;
  }

  #isDue(): boolean {
    return this.#bytesUntilFault <= 0 && (this.#fault.type !== "append" || this.#atLineStart);
  }

  /** Passes on the bytes before the fault and keeps the rest. */
  #pass(chunk: Uint8Array): Uint8Array {
    const end = this.#state === "before" ? this.#endIn(chunk) : chunk.length;
    if (end < chunk.length) this.#rest = chunk.subarray(end);
    this.#bytesUntilFault -= end;
    this.#atLineStart = chunk[end - 1] === NEWLINE;
    return end < chunk.length ? chunk.subarray(0, end) : chunk;
  }

  #endIn(chunk: Uint8Array): number {
    if (this.#fault.type !== "append") return Math.min(chunk.length, this.#bytesUntilFault);
    const newline = chunk.indexOf(NEWLINE, Math.max(0, this.#bytesUntilFault - 1));
    return newline < 0 ? chunk.length : newline + 1;
  }

  /** Returns the bytes that the fault adds. */
  async #strike(): Promise<Uint8Array | undefined> {
    const fault = this.#fault;
    this.#state = "after";
    if (fault.type === "stall") {
      await this.#stall(fault.ms);
      return undefined;
    }
    this.#state = "ended";
    await this.#inner.return?.();
    if (fault.type === "cut") throw transportError("TRANSPORT_BROKEN", "injected: connection cut");
    return fault.type === "append" ? fault.bytes : undefined;
  }

  /** Ends after the time, when the reader leaves, or when the signal is aborted. */
  #stall(ms: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const signal = this.#signal;
      const timer = ms === undefined ? undefined : this.#clock.timer(ms, () => settle(resolve));
      const onAbort = (): void => settle(() => reject(abortedError(signal!)));
      const onLeft = (): void => settle(resolve);
      const settle = (then: () => void): void => {
        timer?.[Symbol.dispose]();
        signal?.removeEventListener("abort", onAbort);
        this.#left.signal.removeEventListener("abort", onLeft);
        then();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#left.signal.addEventListener("abort", onLeft, { once: true });
      if (signal?.aborted) onAbort();
    });
  }
}
