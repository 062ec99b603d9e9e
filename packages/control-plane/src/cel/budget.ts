import { CelError } from "./value.js";

/** Raised where a rule costs more than it may. Not an error that `||` and `&&` absorb. */
export class BudgetExceeded extends CelError {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** What one evaluation may still cost; every step takes from it, so that no rule runs for long. */
export class Budget {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  get left(): number {
    return this.#left;
  }

  spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw new BudgetExceeded();
  }

  /** Reading text costs a tenth of its length, as the real server counts. */
  spendText(length: number): void {
    this.spend(Math.ceil(length / 10) + 1);
  }
}
