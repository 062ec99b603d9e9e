import { type KubeObject, parseDuration, parseTime, type Random } from "setpoint";
import { valuesAt } from "./jq-path.js";
import type { Stage, StageExpression } from "./stage.js";

/** The stages of a kind that an object is in. */
export function matchingStages(stages: readonly Stage[], kind: string, object: KubeObject): readonly Stage[] {
  return stages.filter(({ spec }) => spec.resourceRef.kind === kind && matches(spec.selector ?? {}, object));
}

function matches(selector: NonNullable<Stage["spec"]["selector"]>, object: KubeObject): boolean {
  const { matchLabels = {}, matchAnnotations = {}, matchExpressions = [] } = selector;
  const { labels = {}, annotations = {} } = object.metadata;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    Object.entries(matchAnnotations).every(([key, value]) => annotations[key] === value) &&
    matchExpressions.every((expression) => holds(expression, object))
  );
}

function holds({ key, operator, values = [] }: StageExpression, object: KubeObject): boolean {
  const found = valuesAt(object, key).map(String);
  switch (operator) {
    case "Exists":
      return found.length > 0;
    case "DoesNotExist":
      return found.length === 0;
    case "In":
      return found.some((value) => values.includes(value));
    case "NotIn":
      return !found.some((value) => values.includes(value));
  }
}

/** One of several, by weight; all alike where none has any. */
export function chosenStage(stages: readonly Stage[], random: Random): Stage | undefined {
  if (stages.length < 2) return stages[0];
  const weights = stages.map(({ spec }) => Math.max(0, spec.weight ?? 0));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = random.next() * (total || stages.length);
  return stages.find((_, index) => (left -= total ? weights[index]! : 1) < 0) ?? stages.at(-1);
}

/** How long an object stays as it is before the stage is done: between the duration and its jitter. */
export function stageDelayMs({ spec }: Stage, object: KubeObject, random: Random, nowMs: number): number {
  const { delay = {} } = spec;
  const durationMs = fromObject(delay.durationFrom, object, nowMs) ?? delay.durationMilliseconds ?? 0;
  const jitterMs = fromObject(delay.jitterDurationFrom, object, nowMs) ?? delay.jitterDurationMilliseconds;
  if (jitterMs === undefined) return Math.max(0, durationMs);
  return Math.max(0, jitterMs <= durationMs ? jitterMs : durationMs + random.next() * (jitterMs - durationMs));
}

/** A time of the object is waited for; a duration is taken as such. */
function fromObject(
  from: { readonly expressionFrom?: string } | undefined,
  object: KubeObject,
  nowMs: number,
): number | undefined {
  const [value] = from?.expressionFrom ? valuesAt(object, from.expressionFrom) : [];
  if (typeof value !== "string") return undefined;
  try {
    return value.includes("T") ? parseTime(value) - nowMs : parseDuration(value as "1s");
  } catch {
    return undefined;
  }
}
