import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { systemClock } from "setpoint/clock";
import { badRequest, timeout } from "../../api/status-error.js";
import type { Rehearsal, RehearsalEnd } from "./rehearsal.js";
import { readYamlText, type YamlReading } from "./yaml-text.js";

/** A job for a thread. */
export type BodyJob =
  | { readonly type: "yaml"; readonly text: string }
  | { readonly type: "rehearsal"; readonly rehearsal: Rehearsal };

export type BodyResult =
  | { readonly type: "yaml"; readonly reading: YamlReading }
  | { readonly type: "rehearsal"; readonly end: RehearsalEnd };

/** Limit of threads. Each flow uses at most one, so another flow finds one free. */
const MOST_THREADS = 2;
/** Heap limit of a thread: enough for three megabytes of the smallest nodes. */
const MEMORY_MB = 1536;
/** Time limit per body. Three megabytes of the smallest nodes take a sixth of it on a slow processor. */
const PATIENCE_MS = 120_000;
/** How long a thread rests after a body, as a multiple of the time it took, if the event loop was busy meanwhile. */
const REST = 4;
const LONGEST_REST_MS = 2_000;
/** An idle thread ends after this time and frees its memory. */
const IDLE_MS = 10_000;

interface Waiting {
  readonly job: BodyJob;
  readonly resolve: (result: BodyResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads large bodies in threads: some three-megabyte bodies take seconds, which would block the event loop. Time limits
 * use real time, not the control plane's clock. Flows take turns and none has two threads at once, so a client that
 * sends many such bodies delays only itself. Threads start with the first body and end when idle.
 */
export class BodyThreads implements AsyncDisposable {
  /** Waiting bodies by flow. The flow whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Flows with a body in a thread. */
  readonly #busy = new Set<string>();
  readonly #free: BodyThread[] = [];
  readonly #all = new Set<BodyThread>();
  /** One processor is left to the event loop. */
  readonly #most = Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1));
  #isDisposed = false;

  /** Rejects with a 504 if reading takes too long. */
  async read(text: string, flow: string): Promise<YamlReading> {
    if (!this.#isDisposed && workerFile() === undefined) return readYamlText(text);
    const result = await this.#done({ type: "yaml", text }, flow);
    if (result.type === "yaml") return result.reading;
    throw badRequest("yaml: the document cannot be read");
  }

  /** Rehearses the write. Undefined if there is no built file for a thread to run. */
  async rehearse(rehearsal: Rehearsal, flow: string): Promise<RehearsalEnd | undefined> {
    if (!this.#isDisposed && workerFile() === undefined) return undefined;
    const result = await this.#done({ type: "rehearsal", rehearsal }, flow);
    return result.type === "rehearsal" ? result.end : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const waiting of this.#waiting.values()) for (const { reject } of waiting) reject(stopping());
    this.#waiting.clear();
    await Promise.all([...this.#all].map((thread) => thread[Symbol.asyncDispose]()));
  }

  #done(job: BodyJob, flow: string): Promise<BodyResult> {
    if (this.#isDisposed) throw stopping();
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(flow);
      if (waiting === undefined) this.#waiting.set(flow, [{ job, resolve, reject }]);
      else waiting.push({ job, resolve, reject });
      this.#begin();
    });
  }

  /** Gives each free thread the first body of the next flow that has no thread. */
  #begin(): void {
    for (const [flow, waiting] of this.#waiting) {
      if (this.#busy.has(flow)) continue;
      const thread = this.#free.pop() ?? (this.#all.size < this.#most ? this.#start() : undefined);
      if (thread === undefined) return;
      const next = waiting.shift()!;
      // A flow with more bodies goes to the end of the queue.
      this.#waiting.delete(flow);
      if (waiting.length > 0) this.#waiting.set(flow, waiting);
      this.#busy.add(flow);
      const rest = restAfter();
      void thread
        .done(next.job)
        .then(next.resolve, next.reject)
        .finally(() => this.#ended(flow, thread, rest()));
    }
  }

  #ended(flow: string, thread: BodyThread, restMs: number): void {
    this.#busy.delete(flow);
    if (thread.isOver) this.#all.delete(thread);
    if (this.#isDisposed) return;
    if (thread.isOver || restMs < 1) this.#rested(thread);
    else systemClock.timer(restMs, () => this.#rested(thread)).unref();
  }

  #rested(thread: BodyThread): void {
    if (!thread.isOver) this.#free.push(thread);
    if (!this.#isDisposed) this.#begin();
  }

  #start(): BodyThread {
    const thread = new BodyThread(workerFile()!, () => {
      this.#all.delete(thread);
      const at = this.#free.indexOf(thread);
      if (at >= 0) this.#free.splice(at, 1);
    });
    this.#all.add(thread);
    return thread;
  }
}

/** One thread. It works on one body at a time. */
class BodyThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #onOver: () => void;
  #idle: Disposable | undefined;
  isOver = false;

  constructor(file: URL, onOver: () => void) {
    const { Worker: Thread } = process.getBuiltinModule("node:worker_threads");
    // Do not pass the flags of the process (such as --input-type) to the thread.
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: 4 };
    this.#worker = new Thread(file, { execArgv: [], resourceLimits });
    this.#onOver = onOver;
    this.#worker.on("error", () => {});
  }

  async done(job: BodyJob): Promise<BodyResult> {
    this.#idle?.[Symbol.dispose]();
    this.#worker.ref();
    try {
      return await this.#resultOf(job);
    } finally {
      this.#worker.unref();
      if (!this.isOver) this.#idle = systemClock.timer(IDLE_MS, () => void this[Symbol.asyncDispose]()).unref();
    }
  }

  #resultOf(job: BodyJob): Promise<BodyResult> {
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const patience = systemClock.timer(PATIENCE_MS, () => {
        settle();
        void this[Symbol.asyncDispose]();
        reject(timeout("the body of the request took too long to read", 1));
      });
      const onMessage = (result: BodyResult): void => {
        settle();
        resolve(result);
      };
      // The thread ran out of memory or stack. Only the thread is lost.
      const onEnd = (): void => {
        settle();
        this.isOver = true;
        const why = "the document needs too much memory";
        if (job.type === "yaml") resolve({ type: "yaml", reading: { type: "refused", why: `yaml: ${why}` } });
        else reject(badRequest(why));
      };
      const settle = (): void => {
        patience[Symbol.dispose]();
        worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
      };
      worker.on("message", onMessage).once("error", onEnd).once("exit", onEnd);
      worker.postMessage(job);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isOver) this.#onOver();
    this.isOver = true;
    this.#idle?.[Symbol.dispose]();
    await this.#worker.terminate();
  }
}

/**
 * Measures a body from now on and returns how long its thread should rest. Threads share the processors with the event
 * loop: while it is busy, they work only a fifth of the time.
 */
function restAfter(): () => number {
  const startedMs = systemClock.monotonic();
  const loop = performance.eventLoopUtilization();
  return () => {
    const { utilization } = performance.eventLoopUtilization(loop);
    return Math.min((systemClock.monotonic() - startedMs) * REST * utilization, LONGEST_REST_MS);
  };
}

function stopping(): Error {
  return timeout("the server is stopping", 1);
}

/** The built file that a thread runs. Undefined if the build left it out. */
function workerFile(): URL | undefined {
  try {
    const file = new URL(import.meta.resolve("@setpoint/control-plane/body-worker"));
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
