/** Thrown when an evaluation exceeds its cost limit. */
export class BudgetExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** The cost of an evaluation so far. Every step adds to it, so that no evaluation runs for long. */
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
