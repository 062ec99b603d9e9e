/** One change, as those who follow the state read it. */
export interface LoggedEvent {
  /** `EPOCH-NUMBER`; the epoch changes with the process. */
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

const KEPT = 10_000;

/**
 * The last changes, numbered, so that a follower who was cut off goes on where it was. One who was away for too long, or
 * knew another process, begins with everything anew.
 */
export class EventLog {
  readonly #epoch: string;
  readonly #events: LoggedEvent[] = [];
  readonly #listeners = new Set<() => void>();
  #last = 0;

  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  get lastId(): string {
    return `${this.#epoch}-${this.#last}`;
  }

  add(type: string, data: unknown): void {
    this.#last++;
    this.#events.push({ id: this.lastId, type, data });
    if (this.#events.length > KEPT) this.#events.shift();
    for (const listener of this.#listeners) listener();
  }

  /** All after `id`; undefined where some of them are not kept any more. */
  since(id: string): readonly LoggedEvent[] | undefined {
    const [epoch, text] = id.split("-");
    const number = Number(text);
    const first = this.#last - this.#events.length;
    if (epoch !== this.#epoch || !Number.isInteger(number) || number < first || number > this.#last) return undefined;
    return this.#events.slice(number - first);
  }

  /** Calls `listener` when there is more. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
