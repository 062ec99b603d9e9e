import { duplicate, invalidValue, notSupported, required, tooMany } from "../../../api/field-error.js";
import type { Json, JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { list, object, oneOf, pointed } from "../rule.js";

const RESIZED = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

/** Validates how a container reacts to a resize, given the pod's restartPolicy. */
export function resizePolicy(
  of: Json | undefined,
  podPolicy: Json | undefined,
  path: string,
  errors: FieldError[],
): void {
  const seen = new Set<Json>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of list(of).entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(`${path}[${index}]`, resourceName));
    seen.add(resourceName);
    for (const [value, known] of [
      [resourceName, RESIZED],
      [restartPolicy, RESIZE_POLICIES],
    ] as const) {
      if (value === "") errors.push(required(path));
      else if (!known.includes(String(value))) errors.push(notSupported(path, value, known));
    }
    if (podPolicy === "Never" && restartPolicy !== "NotRequired") {
      errors.push(invalidValue(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}

const MAX_RULES = 20;
const MAX_CODES = 255;

/** Validates a container's restartPolicy and its rules for exit codes. */
export function restartPolicy(container: JsonObject, path: string, isInit: boolean, errors: FieldError[]): void {
  const rules = list(container.restartPolicyRules);
  const at = `${path}.restartPolicyRules`;
  if (container.restartPolicy === undefined && rules.length > 0) {
    errors.push(required(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used"));
    if (isInit) return;
  }
  pointed(oneOf("Always", "Never", "OnFailure"))(container.restartPolicy, `${path}.restartPolicy`, errors);
  if (rules.length > MAX_RULES) errors.push(tooMany(at, rules.length, MAX_RULES));
  for (const [index, { action, exitCodes }] of rules.entries()) {
    oneOf("Restart", "RestartAllContainers")(action, `${at}[${index}].action`, errors);
    if (exitCodes === undefined) {
      errors.push(required(`${at}[${index}].exitCodes`, "must be specified"));
      continue;
    }
    const { operator, values } = object(exitCodes);
    oneOf("In", "NotIn")(operator, `${at}[${index}].exitCodes.operator`, errors);
    const count = Array.isArray(values) ? values.length : 0;
    if (count > MAX_CODES) errors.push(tooMany(`${at}[${index}].exitCodes.values`, count, MAX_CODES));
  }
}
