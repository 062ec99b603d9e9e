/** The causes that every loop has: they come from the loop itself, not from what it watches. */
export type LoopCause =
  | { readonly type: "retry"; readonly attempt: number; readonly error: string }
  | { readonly type: "requeue" }
  /** The safety recheck of a wait. */
  | { readonly type: "recheck"; readonly reason: string }
  /** A timer or a channel, by its name. */
  | { readonly type: "trigger"; readonly name: string }
  /** The number of causes beyond those that are kept. */
  | MoreCauses;

export interface MoreCauses {
  readonly type: "more";
  readonly count: number;
}

/** How a loop merges its own causes. */
export interface CauseRules<Cause extends { readonly type: string }> {
  /** Causes with the same identity are one cause. */
  identityOf(cause: Cause): string;
  /** Whether there may be any number of such causes: beyond {@link MAX_CAUSES} these are counted instead of kept. */
  isOneOfMany(cause: Cause): boolean;
  /** Merges two causes with the same identity. Defaults to the later. */
  joined?(earlier: Cause, later: Cause): Cause;
}

/**
 * How many causes of a key to keep. Beyond this, causes of which there may be any number are counted: thousands of
 * objects may change at once. What happened to the object itself is always kept.
 */
export const MAX_CAUSES = 32;

/** All causes of both, each once, in order of first appearance. */
export function mergeCauses<Cause extends { readonly type: string }>(
  earlier: readonly Cause[],
  later: readonly Cause[],
  rules: CauseRules<Cause | MoreCauses>,
): readonly Cause[] {
  const merged: (Cause | MoreCauses)[] = [...earlier];
  for (const cause of later) {
    const identity = rules.identityOf(cause);
    const known = merged.findIndex((other) => rules.identityOf(other) === identity);
    if (known >= 0) merged[known] = joined(merged[known]!, cause, rules);
    else if (merged.length < MAX_CAUSES || !rules.isOneOfMany(cause)) merged.push(cause);
    else addToRest(merged, cause, rules);
  }
  return merged as readonly Cause[];
}

function joined<Cause extends { readonly type: string }>(
  earlier: Cause,
  later: Cause,
  rules: CauseRules<Cause>,
): Cause {
  if (isMore(earlier) && isMore(later)) return { ...later, count: earlier.count + later.count };
  return rules.joined ? rules.joined(earlier, later) : later;
}

/** Counts a cause with the rest; also moves the last kept cause there with the first one counted. */
function addToRest<Cause extends { readonly type: string }>(
  merged: (Cause | MoreCauses)[],
  cause: Cause,
  rules: CauseRules<Cause | MoreCauses>,
): void {
  const rest = merged.findIndex(isMore);
  const at = rest >= 0 ? rest : merged.findLastIndex((other) => rules.isOneOfMany(other));
  const known = merged[at];
  if (known) merged[at] = { type: "more", count: countOf(cause) + countOf(known) };
  else merged.push(cause);
}

function isMore(cause: { readonly type: string }): cause is MoreCauses {
  return cause.type === "more";
}

function countOf(cause: { readonly type: string }): number {
  return isMore(cause) ? cause.count : 1;
}

/** `retry 3`: for logs. */
export function describeLoopCause(cause: LoopCause): string {
  switch (cause.type) {
    case "retry":
      return `retry ${cause.attempt}`;
    case "recheck":
      return `recheck of ${cause.reason}`;
    case "trigger":
      return `trigger ${cause.name}`;
    case "more":
      return `${cause.count} more`;
    case "requeue":
      return "requeue";
  }
}
