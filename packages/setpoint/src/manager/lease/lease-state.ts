import type { ConnectOptions } from "../../client/connect.js";
import type { LogFields } from "../../loop/logger.js";
import type { LeaderElectorOptions } from "./leader-elector.js";

/** The input of a lease thread. */
export interface LeaseTask {
  readonly connect: Pick<ConnectOptions, "kubeconfig" | "context">;
  readonly elector: Required<
    Pick<LeaderElectorOptions, "namespace" | "name" | "identity" | "lease" | "renew" | "retry">
  >;
  readonly state: SharedArrayBuffer;
}

export type ToThread = { readonly type: "release" };

export type FromThread =
  | { readonly type: "leading" }
  | { readonly type: "lost"; readonly message: string }
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields: LogFields;
    };

/**
 * What both threads know about a lease, in shared memory, because a message would wait for an event loop. Times are
 * those of a clock that all threads share.
 */
export class LeaseState {
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.#cells = new BigInt64Array(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#cells.buffer as SharedArrayBuffer;
  }

  /** The lease is valid for this long from now. */
  lead(nowNs: bigint, forMs: number): void {
    Atomics.store(this.#cells, 0, nowNs + BigInt(Math.floor(forMs * 1e6)));
  }

  /** The lease is no longer valid. */
  end(): void {
    Atomics.store(this.#cells, 0, 0n);
  }

  /** How much longer it is valid; zero or less if it is not. */
  leadsForMs(nowNs: bigint): number {
    return Number(Atomics.load(this.#cells, 0) - nowNs) / 1e6;
  }

  /** The main thread is alive. */
  see(nowNs: bigint): void {
    Atomics.store(this.#cells, 1, nowNs);
  }

  seenWithin(nowNs: bigint, ms: number): boolean {
    return Number(nowNs - Atomics.load(this.#cells, 1)) / 1e6 <= ms;
  }
}
