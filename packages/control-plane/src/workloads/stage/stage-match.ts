import type { KubeObject } from "setpoint";
import { parseDuration, type Random } from "setpoint/clock";
import { parseTime } from "setpoint/kinds";
import type { Stage, ValueFrom } from "./stage.js";
import type { StageExpressions } from "./stage-expressions.js";

/** The kind that a stage refers to. */
export function stagedKind({ spec }: Stage): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: spec.resourceRef.apiGroup || "v1", kind: spec.resourceRef.kind };
}

/** The stages that match an object. */
export function matchingStages(
  stages: readonly Stage[],
  kind: { readonly apiVersion: string; readonly kind: string },
  object: KubeObject,
  expressions: StageExpressions,
): readonly Stage[] {
  return stages.filter((stage) => {
    const staged = stagedKind(stage);
    const isOfKind = staged.kind === kind.kind && staged.apiVersion === kind.apiVersion;
    return isOfKind && matches(stage.spec.selector ?? {}, object, expressions);
  });
}

function matches(
  selector: NonNullable<Stage["spec"]["selector"]>,
  object: KubeObject,
  expressions: StageExpressions,
): boolean {
  const { matchLabels = {}, matchAnnotations = {}, matchExpressions = [] } = selector;
  const { labels = {}, annotations = {} } = object.metadata;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    Object.entries(matchAnnotations).every(([key, value]) => annotations[key] === value) &&
    matchExpressions.every((expression) => expressions.holds(expression, object))
  );
}

/** Picks one stage at random by weight, or uniformly if no stage has a weight. */
export function chosenStage(
  stages: readonly Stage[],
  object: KubeObject,
  expressions: StageExpressions,
  random: Random,
): Stage | undefined {
  if (stages.length < 2) return stages[0];
  const weights = stages.map(({ spec }) => {
    const given = Number(expressions.value(spec.weightFrom, object) ?? Number.NaN);
    return Math.max(0, Number.isNaN(given) ? (spec.weight ?? 0) : given);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = random.next() * (total || stages.length);
  return stages.find((_, index) => (left -= total ? weights[index]! : 1) < 0) ?? stages.at(-1);
}

/** The delay before a stage is applied: between its duration and its jitter. */
export function stageDelayMs(
  { spec }: Stage,
  object: KubeObject,
  expressions: StageExpressions,
  random: Random,
  nowMs: number,
): number {
  const { delay = {} } = spec;
  const given = (from: ValueFrom | undefined) => millisecondsOf(expressions.value(from, object), nowMs);
  const durationMs = given(delay.durationFrom) ?? delay.durationMilliseconds ?? 0;
  const jitterMs = given(delay.jitterDurationFrom) ?? delay.jitterDurationMilliseconds;
  if (jitterMs === undefined) return Math.max(0, durationMs);
  return Math.max(0, jitterMs <= durationMs ? jitterMs : durationMs + random.next() * (jitterMs - durationMs));
}

/** A timestamp gives the time until then; a duration counts as it is. */
function millisecondsOf(value: string | number | undefined, nowMs: number): number | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return value.includes("T") ? parseTime(value) - nowMs : parseDuration(value as "1s");
  } catch {
    return undefined;
  }
}
