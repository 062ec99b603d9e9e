import type { Clock, Timer } from "../clock/clock.js";
import { Heap, type HeapEntry } from "../clock/heap.js";
import type { Key } from "./resource.js";

interface Alarm extends HeapEntry {
  readonly id: Key;
  readonly at: number;
}

/** A timer can wait at most about 24 days. */
const LONGEST_TIMER_MS = 86_400_000;

/** When resources run again by themselves: one time per resource, the last one set, and one timer for all. */
export class Alarms implements Disposable {
  readonly #clock: Clock;
  readonly #ring: (ids: readonly Key[]) => void;
  readonly #heap = new Heap<Alarm>((left, right) => left.at < right.at);
  readonly #byId = new Map<Key, Alarm>();
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #isOver = false;

  constructor(clock: Clock, ring: (ids: readonly Key[]) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  set(id: Key, at: number): void {
    const former = this.#byId.get(id);
    if (former) this.#heap.remove(former);
    const alarm = { id, at, position: -1 };
    this.#byId.set(id, alarm);
    this.#heap.push(alarm);
  }

  /** Call it when all times are set. */
  arm(): void {
    const at = this.#heap.peek()?.at;
    if (at === undefined || this.#isOver || this.#timer?.at === at) return;
    this.#timer?.timer[Symbol.dispose]();
    const delayMs = Math.min(Math.max(0, at - this.#clock.now()), LONGEST_TIMER_MS);
    this.#timer = { at, timer: this.#clock.timer(delayMs, () => this.#fire()) };
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.timer[Symbol.dispose]();
  }

  #fire(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.now();
    const ids: Key[] = [];
    for (let next = this.#heap.peek(); next && next.at <= nowMs; next = this.#heap.peek()) {
      this.#heap.remove(next);
      this.#byId.delete(next.id);
      ids.push(next.id);
    }
    if (ids.length > 0) this.#ring(ids);
    this.arm();
  }
}
