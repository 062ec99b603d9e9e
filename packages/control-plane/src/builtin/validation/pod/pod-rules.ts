import type { KubeObject } from "setpoint";
import { addErrors, fieldErrors } from "../../../api/error-budget.js";
import { forbiddenField, invalidValue, required } from "../../../api/field-error.js";
import { field, isArray, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { canonicalText } from "../../../schema/canonical-text.js";
import { internalDiff, isSameInternal } from "../internal-struct.js";
import { errorsOf, list, object, type Rule } from "../rule.js";
import { tolerations } from "../selector-rules.js";
import { isGated, narrowingErrors, withNodeAffinityOf } from "./pod-gate-rules.js";
import { checkPodSpec } from "./pod-spec-rules.js";

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

const MIRROR = "kubernetes.io/config.mirror";
const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";

export const podRule: Rule = (value, _path, errors) => {
  const { metadata, spec } = object(value);
  addErrors(errors, annotationErrors(object(value)));
  checkPodSpec(object(spec), "spec", errors, String(object(metadata).name ?? ""));
};

/** Rules for new pods that do not apply to pod templates. */
export function newPodErrors(pod: KubeObject): readonly FieldError[] {
  const spec = object((pod as unknown as JsonObject).spec);
  const errors = ["containers", "initContainers"].flatMap((field) =>
    imageErrors(list(spec[field]), `spec.${field}`).filter(({ type }) => type !== "FieldValueRequired"),
  );
  if (list(spec.ephemeralContainers).length > 0) {
    errors.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (spec.nodeName && list(spec.schedulingGates).length > 0) {
    errors.push(forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return errors;
}

function annotationErrors({ metadata, spec }: JsonObject): readonly FieldError[] {
  const annotations = object(object(metadata).annotations);
  const cost = annotations[DELETION_COST];
  const errors: FieldError[] = fieldErrors();
  if (annotations[MIRROR] !== undefined && !object(spec).nodeName) {
    const why = "must set spec.nodeName if mirror pod annotation is set";
    errors.push(invalidValue(`metadata.annotations[${MIRROR}]`, annotations[MIRROR], why));
  }
  if (cost !== undefined && !isDeletionCost(String(cost))) {
    errors.push(invalidValue(`metadata.annotations[${DELETION_COST}]`, cost, "must be a 32bit integer"));
  }
  return errors;
}

/** The mirror pod and AppArmor annotations are immutable. */
function annotationUpdateErrors(pod: JsonObject, old: JsonObject): readonly FieldError[] {
  const of = ({ metadata }: JsonObject): JsonObject => object(object(metadata).annotations);
  const [now, before] = [of(pod), of(old)];
  const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (key) => field(now, key) !== field(before, key),
  );
  return changed.flatMap((key) => {
    const what = key === MIRROR ? "mirror pod annotation" : key.startsWith(APPARMOR) ? "AppArmor annotations" : "";
    const verb = Object.hasOwn(before, key) ? "remove or update" : "add";
    return what === "" ? [] : [forbiddenField(`metadata.annotations[${key}]`, `may not ${verb} ${what}`)];
  });
}

function isDeletionCost(text: string): boolean {
  return /^(0|-\d+|[1-9]\d*)$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31;
}

const MUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** A pod is immutable, except for images, an earlier deadline and additional tolerations. */
export function podUpdate(pod: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [...annotationUpdateErrors(pod, old), ...annotationErrors(pod)];
  const [spec, before] = [object(pod.spec), object(old.spec)];
  for (const name of ["containers", "initContainers"]) {
    if (list(spec[name]).length !== list(before[name]).length) {
      return [...errors, forbiddenField(`spec.${name}`, "pod updates may not add or remove containers")];
    }
    addErrors(errors, imageErrors(list(spec[name]), `spec.${name}`));
  }
  const deadline = deadlineError(spec.activeDeadlineSeconds, before.activeDeadlineSeconds);
  if (deadline !== undefined) {
    errors.push(deadline);
    if (spec.activeDeadlineSeconds !== undefined) return errors;
  }
  addErrors(errors, tolerationErrors(spec.tolerations, before.tolerations));
  addErrors(errors, newGates(spec, before));
  if (isGated(before)) addErrors(errors, narrowingErrors(spec, before));
  const kept = withMutableFieldsOf(before, spec);
  if (!isSameInternal("core.PodSpec", kept, before)) {
    errors.push(forbiddenField("spec", `${MUTABLE}\n${internalDiff("core.PodSpec", before, kept)}`));
  }
  return errors;
}

function imageErrors(containers: readonly JsonObject[], path: string): readonly FieldError[] {
  return containers.flatMap(({ image }, index) => {
    const [text, at] = [String(image ?? ""), `${path}[${index}].image`];
    if (text === "") return [required(at)];
    return text.trim() === text ? [] : [invalidValue(at, text, "must not have leading or trailing whitespace")];
  });
}

const MAX_SECONDS = 2_147_483_647;

/** A deadline may become earlier, but may not be removed. */
function deadlineError(now: Json | undefined, before: Json | undefined): FieldError | undefined {
  const at = "spec.activeDeadlineSeconds";
  if (typeof now !== "number") {
    if (before === undefined) return undefined;
    return invalidValue(at, null, "must not update from a positive integer to nil value");
  }
  if (now < 0 || now > MAX_SECONDS) return invalidValue(at, now, `must be between 0 and ${MAX_SECONDS}, inclusive`);
  if (typeof before !== "number" || before >= now) return undefined;
  return invalidValue(at, now, "must be less than or equal to previous value");
}

/** Scheduling gates may only be removed. */
function newGates(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  const known = new Set(list(before.schedulingGates).map(({ name }) => name));
  return list(spec.schedulingGates).flatMap(({ name }, index) => {
    if (known.has(name)) return [];
    const why = `only deletion is allowed, but found new scheduling gate '${name ?? ""}'`;
    return [forbiddenField(`spec.schedulingGates[${index}].name`, why)];
  });
}

/** The spec with the old values of mutable fields, to compare the rest. */
function withMutableFieldsOf(before: JsonObject, spec: JsonObject): JsonObject {
  const withImages = (name: string): readonly JsonObject[] =>
    list(spec[name]).map((container, index) => ({ ...container, image: list(before[name])[index]?.image ?? "" }));
  const taken = ["activeDeadlineSeconds", "schedulingGates", "tolerations"];
  if (isGated(before)) taken.push("nodeSelector", "affinity");
  const isEnded = Number(before.terminationGracePeriodSeconds) < 0 && spec.terminationGracePeriodSeconds === 1;
  if (isEnded) taken.push("terminationGracePeriodSeconds");
  const rest = Object.fromEntries(Object.entries(spec).filter(([name]) => !taken.includes(name)));
  const kept = Object.fromEntries(
    Object.entries(before).filter(([name]) => taken.includes(name) && name !== "affinity"),
  );
  const affinity = isGated(before) ? withNodeAffinityOf(before.affinity, spec.affinity) : undefined;
  return {
    ...rest,
    ...kept,
    ...(affinity && { affinity }),
    containers: withImages("containers"),
    initContainers: withImages("initContainers"),
  };
}

function tolerationErrors(now: Json | undefined, before: Json | undefined): readonly FieldError[] {
  const kept = isArray(now) ? now : [];
  const withoutSeconds = (value: Json): Json => {
    if (!isObject(value)) return value;
    const { tolerationSeconds: _seconds, ...rest } = value;
    return rest;
  };
  const identity = (value: Json): string => canonicalText(withoutSeconds(value));
  const found = new Set(kept.map(identity));
  const isLost = (isArray(before) ? before : []).some((old) => !found.has(identity(old)));
  if (!isLost) return errorsOf(tolerations, kept, "spec.tolerations");
  return [forbiddenField("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}
