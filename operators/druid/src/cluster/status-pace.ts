import { findCondition, type NewCondition } from "setpoint";
import type { Clock } from "setpoint/clock";
import type { Druid } from "../druid.js";

const PAUSE_MS = 5_000;

/** Counts and names in the status change with every pod: they are written every few seconds, while what matters is written at once. */
export class StatusPace {
  readonly #clock: Clock;
  /** When the status was last said, by the uid of its object. */
  readonly #saidMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For how long the status can wait; 0 for not at all. */
  pauseMs({ metadata, status }: Druid, conditions: readonly Omit<NewCondition, "observedGeneration">[]): number {
    const isNews = conditions.some(({ type, status: value, reason }) => {
      const shown = findCondition(status?.conditions, type);
      return shown?.status !== value || shown.reason !== reason || shown.observedGeneration !== metadata.generation;
    });
    const now = this.#clock.now();
    const leftMs = (this.#saidMs.get(metadata.uid) ?? Number.NEGATIVE_INFINITY) + PAUSE_MS - now;
    if (!isNews && leftMs > 0) return leftMs;
    this.#saidMs.set(metadata.uid, now);
    return 0;
  }

  forget(uid: string): void {
    this.#saidMs.delete(uid);
  }
}
