import type { Transport, TransportRequest, TransportResponse } from "setpoint/client";
import type { Clock } from "setpoint/clock";

/** Writes in a row before other work gets a turn. */
const WRITES_PER_TURN = 4;

/**
 * The in-process transport of the control plane's own controllers. An in-process write to a storage in memory never
 * leaves the event loop turn, so a controller that creates thousands of pods would block every other client.
 */
export class TurnTakingTransport implements Transport {
  readonly #transport: Transport;
  readonly #clock: Clock;
  #left = WRITES_PER_TURN;
  /** Requests that wait for the next turn. */
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

  /** Lets waiting requests continue. Does not dispose the wrapped transport, because others use it. */
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
