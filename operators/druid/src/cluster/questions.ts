import type { Trigger } from "setpoint";
import type { Clock } from "setpoint/clock";

interface Question {
  answer?: unknown;
  answeredAt: number;
  isPending: boolean;
}

const FRESH_MS = 5_000;

/**
 * Questions to the world outside that no run waits for: a run gets the last answer, and its key runs again when a new one is
 * there. So a Druid that does not answer holds nothing up.
 */
export class Questions {
  readonly trigger: Trigger = {
    name: "druid-answers",
    start: ({ enqueue, signal }) => {
      this.#enqueue = enqueue;
      signal.addEventListener("abort", () => this.#asked.clear(), { once: true });
    },
  };
  readonly #clock: Clock;
  /** By key and question; the question holds the uid, so that a namesake never gets another's answer. */
  readonly #asked = new Map<string, Question>();
  #enqueue: (key: string) => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest answer, undefined while there is none. `ask` must not reject. */
  ask<T>(key: string, question: string, ask: () => Promise<T>): T | undefined {
    const id = `${key} ${question}`;
    const known: Question = this.#asked.get(id) ?? { answeredAt: Number.NEGATIVE_INFINITY, isPending: false };
    this.#asked.set(id, known);
    if (!known.isPending && this.#clock.now() - known.answeredAt >= FRESH_MS) {
      known.isPending = true;
      void ask().then((answer) => {
        known.answer = answer;
        known.answeredAt = this.#clock.now();
        known.isPending = false;
        this.#enqueue(key);
      });
    }
    return known.answer as T | undefined;
  }

  /** Forgets what was asked about a key. */
  forget(key: string): void {
    for (const id of this.#asked.keys()) if (id.startsWith(`${key} `)) this.#asked.delete(id);
  }
}
