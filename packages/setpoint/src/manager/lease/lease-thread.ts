import type { Worker } from "node:worker_threads";
import type { Clock } from "../../clock/clock.js";
import { threadsTimeNs } from "../../clock/system-clock.js";
import { SetpointError } from "../../errors/error.js";
import type { Fence } from "../../loop/fence.js";
import type { Logger } from "../../loop/logger.js";
import type { Elector } from "./leader-elector.js";
import { type FromThread, LeaseState, type LeaseTask, type ToThread } from "./lease-state.js";

/** How often the main thread shows that it is alive, and checks whether it still leads. */
const PULSE_MS = 500;
/** How long the release of the lease may take on the server. */
const RELEASE_MS = 5_000;
/** The reason of the loss, if the shared memory shows it before a message does. */
const ENDED = "expired, or another process took it";

export interface LeaseThreadOptions extends Omit<LeaseTask, "state"> {
  /** The thread's module. */
  readonly worker: URL;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Runs the election in a separate thread, so that a reconciler which blocks the event loop does not lose the lease.
 * This side decides whether a write is allowed, by the time in shared memory. A main thread that is silent for several
 * lease durations loses the lease anyway.
 */
export class LeaseThread implements Elector {
  readonly #options: LeaseThreadOptions;
  readonly #state = new LeaseState();
  readonly #lost = new AbortController();
  #worker: Worker | undefined;
  #pulse: Disposable | undefined;
  #hasLed = false;
  #isReleased = false;

  constructor(options: LeaseThreadOptions) {
    this.#options = options;
    // Every run and write in flight listens to it; this is not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#lost.signal);
  }

  get lease(): Elector["lease"] {
    const { namespace, name } = this.#options.elector;
    return { namespace, name };
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isLeading(): boolean {
    return !this.#isReleased && !this.#lost.signal.aborted && this.#state.leadsForMs(threadsTimeNs()) > 0;
  }

  readonly fence: Fence = {
    lost: this.#lost.signal,
    check: () => {
      if (this.isLeading) return;
      if (this.#hasLed) this.#lose(ENDED);
      throw this.#lostError("is no longer held by this process");
    },
  };

  async acquire(signal: AbortSignal): Promise<void> {
    const { Worker: Thread } = process.getBuiltinModule("node:worker_threads");
    const { connect, elector, log } = this.#options;
    const task: LeaseTask = { connect, elector, state: this.#state.memory };
    // Flags of the process, such as --input-type, are not for this thread.
    const options = { workerData: task, execArgv: [] };
    const worker = new Thread(this.#options.worker, options);
    this.#worker = worker;
    worker.once("exit", () => {
      this.#worker = undefined;
      this.#lose("its thread has ended");
    });
    this.#beat();
    await new Promise<void>((resolve, reject) => {
      const give = (): void => {
        void this.release();
        reject(signal.reason);
      };
      if (signal.aborted) give();
      signal.addEventListener("abort", give, { once: true });
      worker.on("message", (message: FromThread) => {
        if (message.type === "leading") {
          signal.removeEventListener("abort", give);
          this.#hasLed = true;
          resolve();
        } else if (message.type === "lost") this.#lose(message.message);
        else log[message.level](message.message, message.fields);
      });
      worker.once("error", (cause) => {
        this.#lose(`the lease thread failed: ${cause.message}`);
        reject(new SetpointError("LEASE_LOST", `the lease thread failed: ${cause.message}`, { cause }));
      });
    });
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    this.#pulse?.[Symbol.dispose]();
    const worker = this.#worker;
    if (!worker) return;
    const over = new AbortController();
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage({ type: "release" } satisfies ToThread);
    const patience = this.#options.clock.sleep(RELEASE_MS, over.signal).catch(() => {});
    await Promise.race([ended, patience]);
    over.abort();
    // Without the server's response the lease expires on its own.
    await worker.terminate();
  }

  /** Shows the thread that this one is alive, and notices the end of the lease. */
  #beat(): void {
    const nowNs = threadsTimeNs();
    this.#state.see(nowNs);
    const leadsForMs = this.#state.leadsForMs(nowNs);
    const nextMs = leadsForMs > 0 ? Math.min(leadsForMs, PULSE_MS) : PULSE_MS;
    const hadLed = leadsForMs > 0;
    const timer = this.#options.clock.timer(nextMs, () => {
      if (this.#isReleased) return;
      if (hadLed && !this.isLeading) this.#lose(ENDED);
      this.#beat();
    });
    this.#pulse = timer.unref();
  }

  #lose(why: string): void {
    if (this.#isReleased || this.#lost.signal.aborted) return;
    this.#lost.abort(this.#lostError(why));
  }

  #lostError(why: string): SetpointError {
    const { namespace, name, identity } = this.#options.elector;
    return new SetpointError("LEASE_LOST", `the lease ${namespace}/${name} of ${identity}: ${why}`);
  }
}
