import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import type { Clock, Timer } from "setpoint/clock";
import type { CallName, Calls, FromChild, ToChild, WireError } from "./protocol.js";

/** How long an interrupted statement has to end before its process is killed. */
const GRACE_MS = 500;
const PING_MS = 1_000;
/**
 * After this many unanswered pings the child is killed. Each ping has its own timer, so time while the machine is
 * suspended does not count.
 */
const MAX_SILENT_PINGS = 10;

/** Why a call got no answer. `lost`: the process ended. */
export class CallFailure extends Error {
  readonly wire: WireError | "lost";

  constructor(wire: WireError | "lost", message: string) {
    super(message);
    this.wire = wire;
  }
}

interface PendingCall {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((share: number) => void) | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** One process of the engine, from its start to its end. */
export class EngineChild {
  /** Resolves when the process has ended, with how it ended. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #clock: Clock;
  readonly #calls = new Map<number, PendingCall>();
  #nextId = 1;
  #end: string | undefined;
  #silentPings = 0;
  #heart: Timer | undefined;

  constructor(clock: Clock, poolSize: number, folder: string | undefined) {
    this.#clock = clock;
    const program = createRequire(import.meta.url).resolve("@setpoint/pipelines/engine-process");
    this.#process = fork(program, [], {
      // DuckDB runs statements in libuv's pool. The child gets no flags of this process, such as --input-type.
      env: { ...process.env, UV_THREADPOOL_SIZE: String(poolSize) },
      execArgv: [],
      ...(folder === undefined ? {} : { cwd: folder }),
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "json",
    });
    this.#process.on("message", (message: FromChild) => this.#receive(message));
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        if (this.#end !== undefined) return;
        this.#end = how;
        this.#heart?.[Symbol.dispose]();
        for (const call of this.#calls.values()) call.reject(new CallFailure("lost", how));
        this.#calls.clear();
        resolve(how);
      };
      this.#process.once("exit", (code, signal) => end(signal ? `was ended by ${signal}` : `ended with code ${code}`));
      this.#process.once("error", (error) => end(`could not be started: ${error.message}`));
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Rejects with a `CallFailure`, or with the signal's reason if the signal ended the call. */
  async call<Name extends CallName>(
    name: Name,
    args: Calls[Name]["args"],
    { signal, onProgress }: CallOptions = {},
  ): Promise<Calls[Name]["answer"]> {
    signal?.throwIfAborted();
    if (this.#end !== undefined) throw new CallFailure("lost", this.#end);
    const id = this.#nextId++;
    let patience: Timer | undefined;
    const onAbort = (): void => {
      this.#send({ type: "abort", id });
      // Some statements never check for interrupts. Killing the process ends them.
      patience = this.#clock.timer(GRACE_MS, () => this.kill());
    };
    const answered = new Promise<Calls[Name]["answer"]>((resolve, reject) => {
      this.#calls.set(id, { resolve: resolve as (answer: never) => void, reject, onProgress });
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#send({ type: "call", id, name, args, progress: onProgress !== undefined });
    this.#beat();
    try {
      return await answered;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      patience?.[Symbol.dispose]();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #receive(message: FromChild): void {
    this.#silentPings = 0;
    if (message.type === "pong") return;
    const call = this.#calls.get(message.id);
    if (!call) return;
    if (message.type === "progress") {
      call.onProgress?.(message.share);
      return;
    }
    this.#calls.delete(message.id);
    if (this.#calls.size === 0) {
      this.#heart?.[Symbol.dispose]();
      this.#heart = undefined;
    }
    if (message.type === "answer") call.resolve(message.answer as never);
    else call.reject(new CallFailure(message.error, message.error.message));
    if (message.type === "failed" && message.error.isFatal) this.kill();
  }

  /** Checks, while calls are open, that the process still answers. A stopped process never would. */
  #beat(): void {
    this.#heart ??= this.#clock.timer(PING_MS, () => {
      this.#heart = undefined;
      if (this.#calls.size === 0) return;
      if (++this.#silentPings > MAX_SILENT_PINGS) {
        this.kill();
        return;
      }
      this.#send({ type: "ping" });
      this.#beat();
    });
  }

  #send(message: ToChild): void {
    // Ignore the error: if the process has ended, its exit event reports it.
    this.#process.send(message, () => {});
  }
}
