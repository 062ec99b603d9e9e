import type { ObjectEvent } from "../../controller/event-recorder.js";
import type { CorrelatedEvent } from "../events/event-correlator.js";

/** How many may wait; beyond it the oldest that are not the first of their reason are dropped. */
const MAX_WAITING = 1_000;

export interface WaitingEvent extends CorrelatedEvent, Pick<ObjectEvent, "type" | "reason"> {
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly lastMs: number;
}

/**
 * Events that wait to be written, in their order: one for each series, with its newest count. Bounded for all but the first
 * of each reason, which are as many as there are objects. One object's are handed out one at a time. Pure: no I/O.
 */
export class EventLine {
  /** By series, the oldest first. */
  readonly #waiting = new Map<string, WaitingEvent>();
  /** The series among them that may be dropped, the oldest first. */
  readonly #droppable = new Set<string>();
  /** The objects whose events are being written. */
  readonly #busy = new Set<string>();
  #dropped = 0;

  /** Events that were pushed out. */
  get dropped(): number {
    return this.#dropped;
  }

  add(event: WaitingEvent): void {
    const { series } = event;
    const before = this.#waiting.get(series);
    const isFirst = event.isFirst || (before?.isFirst ?? false);
    this.#waiting.set(series, { ...event, isFirst });
    if (before) return;
    if (!isFirst) this.#droppable.add(series);
    if (this.#waiting.size <= MAX_WAITING) return;
    const oldest = this.#droppable.values().next();
    if (oldest.done) return;
    this.#droppable.delete(oldest.value);
    this.#waiting.delete(oldest.value);
    this.#dropped++;
  }

  /** The next whose object is not busy; undefined where there is none. Say `done` when it is written or given up. */
  take(): WaitingEvent | undefined {
    for (const [series, event] of this.#waiting) {
      if (this.#busy.has(laneOf(event))) continue;
      this.#waiting.delete(series);
      this.#droppable.delete(series);
      this.#busy.add(laneOf(event));
      return event;
    }
    return undefined;
  }

  done(event: WaitingEvent): void {
    this.#busy.delete(laneOf(event));
  }
}

function laneOf({ object: { uid, kind, namespace = "", name } }: WaitingEvent): string {
  return [uid, kind, namespace, name].join("\n");
}
