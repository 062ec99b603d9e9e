import { formatTime } from "./time.js";

/** An entry of `status.conditions`; at most one of each type. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** For people; may be empty. */
  readonly message: string;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  /** The generation of the object that the condition is about. */
  readonly observedGeneration?: number | undefined;
}

/** A condition as its author states it. */
export type NewCondition = Pick<Condition, "type" | "status" | "reason" | "observedGeneration"> & {
  readonly message?: string;
};

/**
 * The conditions with this one set. The transition time changes only with the status. If nothing changes, returns the
 * same array, so that an unchanged status stays identical.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: NewCondition,
  nowMs: number,
): readonly Condition[] {
  const current = conditions?.find(({ type }) => type === condition.type);
  const next: Condition = {
    type: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message ?? "",
    lastTransitionTime: current?.status === condition.status ? current.lastTransitionTime : formatTime(nowMs),
    ...(condition.observedGeneration === undefined ? {} : { observedGeneration: condition.observedGeneration }),
  };
  if (!conditions || !current) return [...(conditions ?? []), next];
  if (isSame(current, next)) return conditions;
  return conditions.map((existing) => (existing === current ? next : existing));
}

/** The condition of a type, if there is one. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of a type exists and is `True`. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
