import type { ConnectOptions } from "../../client/connect.js";
import type { LogFields } from "../../loop/logger.js";
import type { LeaderElectorOptions } from "./leader-elector.js";

/** What a lease's thread is started with. */
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
 * What both threads know of a lease, in memory that they share: a message would wait for an event loop. Times are those of
 * the clock that all threads share.
 */
export class LeaseState {
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.#cells = new BigInt64Array(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#cells.buffer as SharedArrayBuffer;
  }

  /** The lease holds for so long from now. */
  lead(nowNs: bigint, forMs: number): void {
    Atomics.store(this.#cells, 0, nowNs + BigInt(Math.floor(forMs * 1e6)));
  }

  /** The lease holds no longer, however long it was to. */
  end(): void {
    Atomics.store(this.#cells, 0, 0n);
  }

  /** How much longer it holds; nothing, or less, where it does not. */
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
