import type { Transport, TransportRequest, TransportResponse } from "setpoint/client";
import type { Clock } from "setpoint/clock";

/** Writes in a row, before others have their turn. */
const WRITES_PER_TURN = 4;

/**
 * The in-process transport for the plane's own controllers. A write in the process to a storage in memory never leaves
 * the turn of the event loop: a controller that makes thousands of pods would keep every other client waiting.
 */
export class TurnTakingTransport implements Transport {
  readonly #transport: Transport;
  readonly #clock: Clock;
  #left = WRITES_PER_TURN;
  /** Those that wait for the next turn. */
  #waiting: (() => void)[] = [];
  #timer: Disposable | undefined;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.method === "GET") return this.#transport.request(request);
    while (this.#left === 0 && !request.signal?.aborted) await this.#nextTurn(request.signal);
    this.#left = Math.max(0, this.#left - 1);
    return this.#transport.request(request);
  }

  /** Lets those that wait go on. The transport behind belongs to others. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#begin(Number.POSITIVE_INFINITY);
  }

  #nextTurn(signal: AbortSignal | undefined): Promise<void> {
    this.#timer ??= this.#clock.timer(0, () => this.#begin(WRITES_PER_TURN));
    return new Promise((resolve) => {
      const go = (): void => {
        signal?.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting.push(go);
      signal?.addEventListener("abort", go);
    });
  }

  #begin(writes: number): void {
    this.#timer = undefined;
    this.#left = writes;
    for (const go of this.#waiting.splice(0)) go();
  }
}
