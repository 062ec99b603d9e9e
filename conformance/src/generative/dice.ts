import { type Random, seededRandom } from "setpoint/clock";

/** Random choices from a seed: the same on both servers, because they do not depend on responses. */
export class Dice {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A whole number from 0 to `below` - 1. */
  number(below: number): number {
    return Math.floor(this.#random.next() * below);
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.number(from.length)]!;
  }

  /** Each of `from` with even odds, in order. */
  some<T>(from: readonly T[]): readonly T[] {
    return from.filter(() => this.chance(0.5));
  }
}
