import type { Readable } from "node:stream";
import { systemClock } from "setpoint/clock";
import type { Answer } from "./wire.js";

/** The lines of a streamed response, as they arrive. */
export class LineStream implements Disposable {
  readonly status: number;
  readonly headers: Answer["headers"];
  /** Sends bytes to the server, if the response allows it. */
  readonly send: (bytes: Uint8Array) => void;
  readonly #source: Readable;
  readonly #lines: string[] = [];
  #rest = "";
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(
    source: Readable,
    { status, headers }: Pick<Answer, "status" | "headers">,
    send: (bytes: Uint8Array) => void = () => {},
  ) {
    this.#source = source;
    this.send = send;
    this.status = status;
    this.headers = headers;
    source.setEncoding("utf8");
    source.on("data", (text: string) => {
      const parts = (this.#rest + text).split("\n");
      this.#rest = parts.pop()!;
      this.#lines.push(...parts.filter((line) => line !== ""));
      this.#wake?.();
    });
    const end = (): void => {
      if (this.#rest !== "") this.#lines.push(this.#rest);
      this.#rest = "";
      this.#isEnded = true;
      this.#wake?.();
    };
    source.on("end", end);
    source.on("error", end);
    source.on("close", end);
  }

  /** The next line; undefined at the end of the stream or after `timeoutMs` of silence. */
  async next(timeoutMs: number): Promise<string | undefined> {
    if (this.#lines.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        const timer = systemClock.timer(timeoutMs, resolve);
        this.#wake = () => {
          if (this.#lines.length === 0 && !this.#isEnded) return;
          timer[Symbol.dispose]();
          resolve();
        };
      });
      this.#wake = undefined;
    }
    return this.#lines.shift();
  }

  [Symbol.dispose](): void {
    this.#source.destroy();
  }
}
