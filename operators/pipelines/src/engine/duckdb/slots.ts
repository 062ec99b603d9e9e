/** A fixed number of tasks run at once; the others wait in order. */
export class Slots {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async with<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #take(signal: AbortSignal | undefined): Promise<void> | void {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(enter), 1);
        reject(signal?.reason);
      };
      this.#line.push(enter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}
