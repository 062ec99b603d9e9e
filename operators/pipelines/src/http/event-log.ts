/** One change, as clients of the event stream receive it. */
export interface LoggedEvent {
  /** `EPOCH-NUMBER`. Each process has its own epoch. */
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

const KEPT = 10_000;

/**
 * The last changes, numbered, so that a client can resume after a lost connection. A client that was away for too long,
 * or that followed another process, starts with a new snapshot.
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

  /** All events after `id`; undefined if some of them are no longer kept. */
  since(id: string): readonly LoggedEvent[] | undefined {
    const [epoch, text] = id.split("-");
    const number = Number(text);
    const first = this.#last - this.#events.length;
    if (epoch !== this.#epoch || !Number.isInteger(number) || number < first || number > this.#last) return undefined;
    return this.#events.slice(number - first);
  }

  /** Calls `listener` after each new event. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
