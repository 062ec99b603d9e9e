import type { Place, Problem } from "./source-text.js";

/** Ends the parse of one file, which then declares nothing. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problems: readonly Problem[];

  constructor(...problems: readonly [Problem, ...Problem[]]) {
    super(problems[0].message);
    this.problems = problems;
  }
}

/** An error at a place of a file. */
export function faultAt(place: Place, message: string): ProblemError {
  return new ProblemError({ severity: "error", message, place });
}
