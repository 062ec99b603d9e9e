import { existsSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { systemClock } from "setpoint/clock";
import { timeout } from "../../api/status-error.js";
import { readYamlText, type YamlReading } from "./yaml-text.js";

/** Memory of the thread: enough for three megabytes of the smallest nodes. */
const MEMORY_MB = 1536;
/** A text that takes longer is given up. Three megabytes of the smallest nodes take a sixth of it on a slow processor. */
const PATIENCE_MS = 120_000;
/** A thread without work ends after this time, and its memory with it. */
const IDLE_MS = 10_000;

/**
 * Reads large texts of YAML in a thread, one at a time: its parser takes a second for some of three megabytes, which the
 * server would not answer anybody in. That is real time, whatever the clock of the plane. The thread starts with the first such text and ends when there was none for a while.
 */
export class YamlThread implements AsyncDisposable {
  /** Undefined until it is needed, and where there is no built file that it could run. */
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: Disposable | undefined;
  #isDisposed = false;

  /** Rejects with a 504 where the text takes too long. */
  read(text: string): Promise<YamlReading> {
    const reading = this.#last.then(() => this.#read(text));
    this.#last = reading.catch(() => {});
    return reading;
  }

  async #read(text: string): Promise<YamlReading> {
    if (this.#isDisposed) throw timeout("the server is stopping", 1);
    this.#idle?.[Symbol.dispose]();
    const worker = (this.#worker ??= startWorker());
    if (worker === undefined) return readYamlText(text);
    worker.ref();
    try {
      return await this.#answerOf(worker, text);
    } finally {
      worker.unref();
      this.#idle = systemClock.timer(IDLE_MS, () => void this.#end(worker));
    }
  }

  #answerOf(worker: Worker, text: string): Promise<YamlReading> {
    return new Promise((resolve, reject) => {
      const patience = systemClock.timer(PATIENCE_MS, () => {
        settle();
        void this.#end(worker);
        reject(timeout("the YAML of the request took too long to read", 1));
      });
      const onMessage = (reading: YamlReading): void => {
        settle();
        resolve(reading);
      };
      // Out of memory, or out of stack: the thread is gone, and the server is not.
      const onEnd = (): void => {
        settle();
        if (this.#worker === worker) this.#worker = undefined;
        resolve({ type: "refused", why: "yaml: the document needs too much memory" });
      };
      const settle = (): void => {
        patience[Symbol.dispose]();
        worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
        worker.once("error", () => {});
      };
      worker.on("message", onMessage).once("error", onEnd).once("exit", onEnd);
      worker.postMessage(text);
    });
  }

  async #end(worker: Worker): Promise<void> {
    if (this.#worker === worker) this.#worker = undefined;
    await worker.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#idle?.[Symbol.dispose]();
    if (this.#worker !== undefined) await this.#end(this.#worker);
  }
}

function startWorker(): Worker | undefined {
  let file: URL;
  try {
    file = new URL(import.meta.resolve("@setpoint/control-plane/yaml-worker"));
  } catch {
    return undefined;
  }
  if (!existsSync(file)) return undefined;
  const { Worker: Thread } = process.getBuiltinModule("node:worker_threads");
  // Flags of the process, such as --input-type, are not for a thread of ours.
  return new Thread(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: 4 } });
}
