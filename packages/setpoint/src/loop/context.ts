import type { Logger } from "./logger.js";

/** What a plan takes for the result of an effect that it does not run. */
export interface EffectInPlan<Result> {
  readonly planned: Result;
}

/** What a run has in every loop, whatever the loop keeps in order. */
export interface LoopContext<Cause> {
  /** Why this run happens: all causes since the last one. */
  readonly causes: readonly Cause[];
  /** 0 for a first try, counting up while runs fail. */
  readonly attempt: number;
  /** Aborted on timeout and shutdown, and when the lease is lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Runs something that changes the world outside: recorded, and refused once the lease is lost. In a plan it is not run:
   * `planned` stands in for its result; without it the plan of this object ends here.
   */
  effect<Result>(
    name: string,
    effect: (signal: AbortSignal) => Promise<Result> | Result,
    inPlan?: EffectInPlan<Result>,
  ): Promise<Result>;
}
