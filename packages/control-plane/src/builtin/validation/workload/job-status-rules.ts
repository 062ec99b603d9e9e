import { isSameJson } from "setpoint/kinds";
import { addErrors, fieldErrors } from "../../../api/error-budget.js";
import { duplicate, invalidValue, invalidWithoutValue, required } from "../../../api/field-error.js";
import type { Json, JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal } from "../internal-struct.js";
import { list, nonNegative, object, pointed, texts } from "../rule.js";
import { indexesIn, sharedIndex } from "./job-indexes.js";

const isTrue = (status: JsonObject, type: string): boolean =>
  list(status.conditions).some((condition) => condition.type === type && condition.status === "True");
const isFinished = (status: JsonObject): boolean => isTrue(status, "Complete") || isTrue(status, "Failed");
const count = (value: Json | undefined): number => (typeof value === "number" ? value : 0);

const COUNTS = ["active", "succeeded", "failed", "ready", "terminating"];
const CONDITIONS = "status.conditions";

function uncounted(status: JsonObject, errors: FieldError[]): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"]) {
    for (const [index, uid] of texts(object(status.uncountedTerminatedPods)[list]).entries()) {
      const at = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") errors.push(invalidValue(at, uid, "must not be empty"));
      else if (seen.has(uid)) errors.push(duplicate(at, uid));
      seen.add(uid);
    }
  }
}

/** Conditions that exclude or require each other. */
function contradictions(status: JsonObject, has: (...types: readonly string[]) => boolean): readonly FieldError[] {
  const is = (type: string): boolean => isTrue(status, type);
  const [complete, failed, target, met] = [is("Complete"), is("Failed"), is("FailureTarget"), is("SuccessCriteriaMet")];
  const wrong: readonly (readonly [isWrong: boolean, why: string])[] = [
    [has("Complete", "Failed") && complete && failed, "cannot set Complete=True and Failed=true conditions"],
    [
      has("Complete", "FailureTarget") && complete && target,
      "cannot set Complete=True and FailureTarget=true conditions",
    ],
    [
      has("Failed", "failedIndexes") && failed && !target,
      "cannot set Failed=True condition without the FailureTarget=true condition",
    ],
    [
      has("Complete", "SuccessCriteriaMet") && complete && !met,
      "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    ],
    [met && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"],
    [met && target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"],
  ];
  return wrong.filter(([isWrong]) => isWrong).map(([, why]) => invalidWithoutValue(CONDITIONS, why));
}

function times(status: JsonObject, has: (...names: readonly string[]) => boolean): readonly FieldError[] {
  const { startTime, completionTime } = status;
  const at = "status.completionTime";
  const isComplete = isTrue(status, "Complete");
  const errors: FieldError[] = fieldErrors();
  if (has("Complete", "completionTime")) {
    if (completionTime !== undefined && !isComplete) {
      const why = "cannot set completionTime when there is no Complete=True condition";
      errors.push(invalidValue(at, completionTime, why));
    }
    if (completionTime === undefined && isComplete) {
      errors.push(required(at, "completionTime is required for Complete jobs"));
    }
  }
  const isBefore =
    startTime !== undefined && completionTime !== undefined && String(completionTime) < String(startTime);
  if (has("startTime", "completionTime") && isBefore) {
    errors.push(invalidValue(at, completionTime, "must be equal to or after `startTime`"));
  }
  return errors;
}

function indexes(job: JsonObject, has: (...names: readonly string[]) => boolean): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const { completions, completionMode, backoffLimitPerIndex } = object(job.spec);
  const { completedIndexes, failedIndexes } = object(job.status);
  const [completed, failed] = [
    String(completedIndexes ?? ""),
    failedIndexes === undefined ? "" : String(failedIndexes),
  ];
  const [doneAt, failedAt] = ["status.completedIndexes", "status.failedIndexes"];
  const most = count(completions);
  const [done, lost] = [indexesIn(completed, most), indexesIn(failed, most)];
  if (completions !== undefined && has("completedIndexes") && done.complaint) {
    errors.push(invalidValue(doneAt, completed, `error parsing completedIndexes: ${done.complaint}`));
  }
  const isPerIndex = backoffLimitPerIndex !== undefined;
  if (completions !== undefined && isPerIndex && has("failedIndexes") && lost.complaint) {
    errors.push(invalidValue(failedAt, failed, `error parsing failedIndexes: ${lost.complaint}`));
  }
  if (has("completedIndexes") && completed !== "" && completionMode !== "Indexed") {
    const why = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.push(invalidValue(doneAt, completed, why));
  }
  if (has("failedIndexes") && !isPerIndex && failedIndexes !== undefined) {
    const why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    errors.push(invalidValue(failedAt, failed, why));
  }
  if (completions === undefined || !has("failedIndexes", "completedIndexes")) return errors;
  const shared = completed === "" || failed === "" ? undefined : sharedIndex(completed, failed, most);
  if (shared !== undefined) {
    const why = `failedIndexes and completedIndexes overlap at index: ${shared}`;
    errors.push(invalidValue(failedAt, failed, why));
  }
  return errors;
}

/** A finished Job stays finished, counts do not decrease and times do not change. */
function transitions(job: JsonObject, old: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const [spec, status, before] = [object(job.spec), object(job.status), object(old.status)];
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (isTrue(before, type) && !isTrue(status, type)) {
      errors.push(invalidWithoutValue(CONDITIONS, `cannot disable the terminal ${type}=True condition`));
    }
  }
  const isElastic = spec.completionMode === "Indexed" && spec.completions === spec.parallelism;
  for (const name of isElastic ? ["failed"] : ["failed", "succeeded"]) {
    if (count(status[name]) >= count(before[name])) continue;
    errors.push(invalidValue(`status.${name}`, count(status[name]), `cannot decrease the ${name} counter`));
  }
  const [ended, endedBefore] = [status.completionTime, before.completionTime];
  if (ended !== undefined && endedBefore !== undefined && ended !== endedBefore) {
    errors.push(invalidValue("status.completionTime", ended, "field is immutable"));
  }
  const isResuming =
    isTrue(before, "Suspended") &&
    list(status.conditions).some(({ type, status: state }) => type === "Suspended" && state === "False");
  const isMoved = before.startTime !== undefined && before.startTime !== status.startTime;
  if (isMoved && !isResuming && spec.suspend !== true) {
    const why = "field is immutable for unsuspended job once set";
    errors.push(invalidValue("status.startTime", status.startTime ?? null, why));
  }
  if (isTrue(before, "SuccessCriteriaMet") && !isTrue(status, "SuccessCriteriaMet")) {
    errors.push(invalidWithoutValue(CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition"));
  }
  return errors;
}

/**
 * Validates a Job's status. Most fields are validated only if they changed, because the spec may have changed
 * meanwhile.
 */
export function jobStatusUpdate(job: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const [spec, status, before] = [object(job.spec), object(job.status), object(old.status)];
  /** Whether one of these fields or conditions changed. */
  const has = (...names: readonly string[]): boolean =>
    names.some((name) =>
      /^[A-Z]/.test(name)
        ? isTrue(status, name) !== isTrue(before, name)
        : !isSameJson(status[name] ?? null, before[name] ?? null),
    );
  for (const name of COUNTS) pointed(nonNegative)(status[name], `status.${name}`, errors);
  uncounted(status, errors);
  addErrors(errors, contradictions(status, has));
  addErrors(errors, times(status, has));
  const ends = isFinished(status) !== isFinished(before);
  if (isFinished(status)) {
    if ((ends || has("active")) && count(status.active) > 0) {
      errors.push(invalidValue("status.active", status.active, "active>0 is invalid for finished job"));
    }
    const isNever = spec.suspend === true && spec.completions === 0;
    if ((ends || has("startTime")) && !isNever && status.startTime === undefined) {
      errors.push(required("status.startTime", "startTime is required for finished job"));
    }
    const left = object(status.uncountedTerminatedPods);
    if ((ends || has("uncountedTerminatedPods")) && texts(left.failed).length + texts(left.succeeded).length > 0) {
      const shown = internal("batch.UncountedTerminatedPods", left);
      errors.push(invalidValue("status.uncountedTerminatedPods", shown, "must be empty for finished job"));
    }
    if ((ends || has("terminating")) && count(status.terminating) > 0) {
      errors.push(invalidValue("status.terminating", status.terminating, "terminating>0 is invalid for finished job"));
    }
  }
  addErrors(errors, indexes(job, has));
  if (has("ready", "active") && count(status.ready) > count(status.active)) {
    errors.push(invalidValue("status.ready", status.ready, "cannot set more ready pods than active"));
  }
  return [...errors, ...transitions(job, old)];
}
