import type { Logger } from "./logger.js";

/** The stand-in result of an effect that a plan does not run. */
export interface EffectInPlan<Result> {
  readonly planned: Result;
}

/** The context that runs of every loop have. */
export interface LoopContext<Cause> {
  /** Why this run happens: all causes since the last run. */
  readonly causes: readonly Cause[];
  /** 0 for the first attempt; counts up while runs fail. */
  readonly attempt: number;
  /** Aborted on timeout and shutdown, and when the lease is lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Runs a change of the world outside: recorded, and refused once the lease is lost. A plan does not run it: `planned`
   * is its result; without that, the plan of this object ends here.
   */
  effect<Result>(
    name: string,
    effect: (signal: AbortSignal) => Promise<Result> | Result,
    inPlan?: EffectInPlan<Result>,
  ): Promise<Result>;
}
