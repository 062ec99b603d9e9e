import type { Trigger } from "setpoint";
import type { Clock } from "setpoint/clock";

interface Question {
  answer?: unknown;
  answeredAt: number;
  isPending: boolean;
}

const FRESH_MS = 5_000;

/**
 * Asks external systems without blocking a run. A run gets the last answer, and a new answer enqueues its key. A Druid
 * that does not answer therefore blocks no worker.
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
  /** By key and question. The question contains the uid, so a recreated object never gets the old one's answer. */
  readonly #asked = new Map<string, Question>();
  #enqueue: (key: string) => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest answer; undefined while there is none. `ask` must not reject. */
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

  /** Drops all questions and answers of a key. */
  forget(key: string): void {
    for (const id of this.#asked.keys()) if (id.startsWith(`${key} `)) this.#asked.delete(id);
  }
}
