import type { ObjectEvent } from "../../controller/event-recorder.js";
import type { CorrelatedEvent } from "../events/event-correlator.js";

/** How many events may wait; beyond this the oldest are dropped, except the first of a reason. */
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
 * Events that wait to be written, in order: one per series, with its newest count. Bounded, except for the first event
 * of each reason, of which there are as many as objects. Events of one object are handed out one at a time. Pure: no
 * I/O.
 */
export class EventLine {
  /** By series, the oldest first. */
  readonly #waiting = new Map<string, WaitingEvent>();
  /** The series that may be dropped, the oldest first. */
  readonly #droppable = new Set<string>();
  /** The objects whose events are being written. */
  readonly #busy = new Set<string>();
  #dropped = 0;

  /** How many events were dropped. */
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

  /** The next event whose object is not busy; undefined if there is none. Call `done` when it is written or given up. */
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
