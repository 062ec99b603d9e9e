import { findCondition, type NewCondition } from "setpoint";
import type { Clock } from "setpoint/clock";
import type { Druid } from "../druid.js";

const PAUSE_MS = 5_000;

/** Limits status writes: counts and names change with every pod. Changed conditions are written at once. */
export class StatusPace {
  readonly #clock: Clock;
  /** When each object's status was last written, by uid. */
  readonly #saidMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long the status write can wait; 0 to write it now. */
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
