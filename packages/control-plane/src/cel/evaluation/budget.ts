/** Thrown where an evaluation costs more than it may. */
export class BudgetExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** What an evaluation has cost so far; every step adds to it, so that none goes on for long. */
export class Budget {
  readonly #limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get spent(): number {
    return this.#spent;
  }

  spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.#limit) throw new BudgetExceeded();
  }
}
