import {
  duplicate,
  invalidValue,
  invalidWithoutValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from "../../../api/field-error.js";
import { isArray, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal } from "../internal-struct.js";
import { checkPodTemplate } from "../pod/pod-spec-rules.js";
import {
  isEmpty,
  list,
  nonNegative,
  object,
  ofSpec,
  oneOf,
  pointed,
  qualified,
  type Rule,
  repeatedAt,
  type StructRule,
  struct,
} from "../rule.js";
import { labelSelector, selects } from "../selector-rules.js";
import { domainPath } from "../storage/path-rules.js";
import { cronComplaint } from "./cron-schedule.js";
import { indexesIn } from "./job-indexes.js";

export const INDEXED = "Indexed";
const ONLY_INDEXED = "requires indexed completion mode";

const numbers = struct({
  parallelism: pointed(nonNegative),
  completions: pointed(nonNegative),
  activeDeadlineSeconds: pointed(nonNegative),
  backoffLimit: pointed(nonNegative),
  ttlSecondsAfterFinished: pointed(nonNegative),
  backoffLimitPerIndex: pointed(nonNegative),
  maxFailedIndexes: pointed(nonNegative),
}) as StructRule;

/** The domain-prefixed name of an external controller. */
const managedBy: StructRule = ({ managedBy: name }, path, errors) => {
  if (name === undefined) return;
  domainPath(name, `${path}.managedBy`, errors);
  if (Buffer.byteLength(String(name)) > 63) errors.push(tooLong(`${path}.managedBy`, 63));
};

/** Limits for Indexed Jobs. */
const indexes: StructRule = (spec, path, errors) => {
  const { completionMode, completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  pointed(oneOf("NonIndexed", INDEXED))(completionMode, `${path}.completionMode`, errors);
  if (completionMode === INDEXED) {
    if (completions === undefined) errors.push(required(`${path}.completions`, "when completion mode is Indexed"));
    if (Number(parallelism ?? 0) > 100_000) {
      errors.push(
        invalidValue(
          `${path}.parallelism`,
          parallelism,
          "must be less than or equal to 100000 when completion mode is Indexed",
        ),
      );
    }
    if (completions !== undefined && Number(maxFailedIndexes ?? 0) > Number(completions)) {
      errors.push(
        invalidValue(`${path}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions"),
      );
    }
    if (Number(maxFailedIndexes ?? 0) > 100_000) {
      errors.push(invalidValue(`${path}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to 100000"));
    }
    if (Number(completions ?? 0) > MANY && backoffLimitPerIndex !== undefined) manyIndexes(spec, path, errors);
  } else if (completionMode === undefined || completionMode === "NonIndexed") {
    for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
      if (spec[name] !== undefined) errors.push(invalidValue(`${path}.${name}`, spec[name], ONLY_INDEXED));
    }
  }
};

/** Above this many completions, the status could not list all failed indexes individually. */
const MANY = 100_000;
const MOST_OF_MANY = 10_000;

const manyIndexes: StructRule = (spec, path, errors) => {
  if (spec.maxFailedIndexes === undefined) {
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${MANY}`));
  }
  for (const name of ["parallelism", "maxFailedIndexes"]) {
    if (Number(spec[name] ?? 0) <= MOST_OF_MANY) continue;
    const when = `when completions are above ${MANY} and used with backoff limit per index`;
    errors.push(invalidValue(`${path}.${name}`, spec[name], `must be less than or equal to ${MOST_OF_MANY} ${when}`));
  }
};

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const quoted = (values: readonly string[]): string =>
  `valid values: [${values.map((value) => `"${value}"`).join(" ")}]`;

function exitCodes(containers: ReadonlySet<Json>): StructRule {
  return ({ operator, containerName, values }, path, errors) => {
    if (isEmpty(operator)) errors.push(required(`${path}.operator`, quoted(["In", "NotIn"])));
    else oneOf("In", "NotIn")(operator, `${path}.operator`, errors);
    if (containerName !== undefined && !containers.has(containerName)) {
      const why = "must be one of the container or initContainer names in the pod template";
      errors.push(invalidValue(`${path}.containerName`, containerName, why));
    }
    const codes = isArray(values) ? values : [];
    if (codes.length === 0)
      errors.push(invalidValue(`${path}.values`, values ?? null, "at least one value is required"));
    else if (codes.length > 255) errors.push(tooMany(`${path}.values`, codes.length, 255));
    const repeated = repeatedAt(codes);
    for (const [index, code] of codes.entries()) {
      const at = `${path}.values[${index}]`;
      if (operator === "In" && code === 0) errors.push(invalidValue(at, code, "must not be 0 for the In operator"));
      if (repeated.has(index)) errors.push(duplicate(at, code));
    }
    if (codes.some((code, index) => index > 0 && Number(codes[index - 1]) > Number(code))) {
      errors.push(invalidValue(`${path}.values`, values, "must be ordered"));
    }
  };
}

const podCondition = struct({}, ({ type, status }, path, errors) => {
  qualified(type ?? "", `${path}.type`, errors);
  if (isEmpty(status)) errors.push(required(`${path}.status`, quoted(["False", "True", "Unknown"])));
  else oneOf("False", "True", "Unknown")(status, `${path}.status`, errors);
});

const failurePolicy: StructRule = (spec, path, errors) => {
  if (!isObject(spec.podFailurePolicy)) return;
  const pod = object(object(spec.template).spec);
  const containers = new Set([...list(pod.containers), ...list(pod.initContainers)].map(({ name }) => name ?? ""));
  const rules = list(spec.podFailurePolicy.rules);
  const at = `${path}.podFailurePolicy.rules`;
  if (rules.length > 20) errors.push(tooMany(at, rules.length, 20));
  for (const [index, { action, onExitCodes, onPodConditions }] of rules.entries()) {
    const place = `${at}[${index}]`;
    if (isEmpty(action)) errors.push(required(`${place}.action`, quoted(ACTIONS)));
    else if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
      errors.push(invalidValue(`${place}.action`, action, "requires the backoffLimitPerIndex to be set"));
    } else if (!ACTIONS.includes(String(action))) errors.push(notSupported(`${place}.action`, action, ACTIONS));
    if (isObject(onExitCodes)) exitCodes(containers)(onExitCodes, `${place}.onExitCodes`, errors);
    for (const [position, condition] of list(onPodConditions).entries()) {
      podCondition(condition, `${place}.onPodConditions[${position}]`, errors);
    }
    const ways = Number(isObject(onExitCodes)) + Number(list(onPodConditions).length > 0);
    if (ways === 2)
      errors.push(invalidWithoutValue(place, "specifying both OnExitCodes and OnPodConditions is not supported"));
    if (ways === 0)
      errors.push(invalidWithoutValue(place, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
};

const replacement: StructRule = ({ podReplacementPolicy: policy, podFailurePolicy }, path, errors) => {
  if (policy === undefined) return;
  const at = `${path}.podReplacementPolicy`;
  if (podFailurePolicy !== undefined) {
    if (policy !== "Failed") errors.push(notSupported(at, policy, ["Failed"]));
  } else oneOf("Failed", "TerminatingOrFailed")(policy, at, errors);
};

const restart: StructRule = ({ template, podFailurePolicy }, path, errors) => {
  const policy = object(object(template).spec).restartPolicy ?? "";
  const at = `${path}.template.spec.restartPolicy`;
  if (policy === "Always" || policy === "") errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  else if (policy !== "OnFailure" && policy !== "Never") errors.push(notSupported(at, policy, ["OnFailure", "Never"]));
  else if (podFailurePolicy !== undefined && policy !== "Never") {
    errors.push(invalidValue(at, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
};

const successPolicy: StructRule = ({ successPolicy: policy, completionMode, completions }, path, errors) => {
  if (!isObject(policy)) return;
  const at = `${path}.successPolicy`;
  if (completionMode !== INDEXED) {
    return void errors.push(invalidValue(at, internal("batch.SuccessPolicy", policy), ONLY_INDEXED));
  }
  const rules = list(policy.rules);
  if (rules.length === 0)
    errors.push(required(`${at}.rules`, "at least one rules must be specified when the successPolicy is specified"));
  if (rules.length > 20) errors.push(tooMany(`${at}.rules`, rules.length, 20));
  for (const [index, rule] of rules.entries()) {
    successRule(rule, Number(completions ?? 0), `${at}.rules[${index}]`, errors);
  }
  return undefined;
};

const MAX_INDEXES_BYTES = 65_536;

/** Validates a success rule: a number of indexes, a set of them, or both. */
function successRule(rule: JsonObject, completions: number, path: string, errors: FieldError[]): void {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined) {
    errors.push(required(path, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  const text = String(indexes ?? "");
  const { total, complaint } = indexesIn(text, completions);
  if (text.length > MAX_INDEXES_BYTES) errors.push(tooLong(`${path}.succeededIndexes`, MAX_INDEXES_BYTES));
  if (complaint) {
    errors.push(invalidValue(`${path}.succeededIndexes`, text, `error parsing succeededIndexes: ${complaint}`));
  }
  if (typeof count !== "number") return;
  nonNegative(count, `${path}.succeededCount`, errors);
  const above = (most: number, of: string): number =>
    errors.push(invalidValue(`${path}.succeededCount`, count, `must be less than or equal to ${most} (${of})`));
  if (count > completions) above(completions, "the number of specified completions");
  if (indexes !== undefined && count > total) {
    above(total, "the number of indexes in the specified succeededIndexes field");
  }
}

/** A Job's spec without its selector, which a job template does not have. */
export const jobSpec: StructRule = (spec, path, errors) => {
  for (const rule of [numbers, managedBy, indexes, failurePolicy, successPolicy, replacement]) rule(spec, path, errors);
  checkPodTemplate(spec.template, `${path}.template`, errors);
  restart(spec, path, errors);
};

const ownSelector: StructRule = ({ selector, template }, path, errors) => {
  const before = errors.length;
  labelSelector(selector, `${path}.selector`, errors);
  const isReadable = errors.length === before;
  if (!isObject(selector)) errors.push(required(`${path}.selector`));
  const labels = object(object(object(template).metadata).labels);
  if (isReadable && !(isObject(selector) && selects(selector, labels))) {
    const shown = object(object(template).metadata).labels ?? null;
    errors.push(invalidValue(`${path}.template.metadata.labels`, shown, "`selector` does not match template `labels`"));
  }
};

const schedule: Rule = (value, path, errors) => {
  const text = String(value ?? "");
  if (text === "") return void errors.push(required(path));
  const complaint = cronComplaint(text);
  if (complaint !== undefined) errors.push(invalidValue(path, text, complaint));
  if (text.includes("TZ")) {
    errors.push(invalidValue(path, text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  }
  return undefined;
};

const timeZone: Rule = (value, path, errors) => {
  if (value === undefined) return;
  const name = String(value);
  if (name === "") return void errors.push(invalidValue(path, name, "timeZone must be nil or non-empty string"));
  if (name.toLowerCase() === "local")
    return void errors.push(
      invalidValue(path, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"),
    );
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
  } catch {
    errors.push(invalidValue(path, name, `unknown time zone ${name}`));
  }
  return undefined;
};

const cronSpec: StructRule = (spec, path, errors) => {
  schedule(spec.schedule, `${path}.schedule`, errors);
  pointed(nonNegative)(spec.startingDeadlineSeconds, `${path}.startingDeadlineSeconds`, errors);
  timeZone(spec.timeZone, `${path}.timeZone`, errors);
  if (isEmpty(spec.concurrencyPolicy)) errors.push(required(`${path}.concurrencyPolicy`));
  else oneOf("Allow", "Forbid", "Replace")(spec.concurrencyPolicy, `${path}.concurrencyPolicy`, errors);
  const template = object(object(spec.jobTemplate).spec);
  const at = `${path}.jobTemplate.spec`;
  jobSpec(template, at, errors);
  if (template.selector !== undefined)
    errors.push(invalidValue(`${at}.selector`, template.selector, "`selector` will be auto-generated"));
  if (template.manualSelector === true) errors.push(notSupported(`${at}.manualSelector`, true, ["nil", "false"]));
  pointed(nonNegative)(spec.successfulJobsHistoryLimit, `${path}.successfulJobsHistoryLimit`, errors);
  pointed(nonNegative)(spec.failedJobsHistoryLimit, `${path}.failedJobsHistoryLimit`, errors);
};

export const batchRules: Readonly<Record<string, Rule>> = {
  "batch/jobs": ofSpec((spec, path, errors) => {
    jobSpec(spec, path, errors);
    ownSelector(spec, path, errors);
  }),
  "batch/cronjobs": ofSpec(cronSpec),
};
