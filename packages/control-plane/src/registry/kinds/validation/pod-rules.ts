import type { KubeObject } from "setpoint";
import { deepEqual, isArray, isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { forbiddenField, invalidValue, required } from "../../field-error.js";
import type { FieldError } from "../../status-error.js";
import { internalDiff, isSameInternal } from "./internal-struct.js";
import { checkPodSpec } from "./pod-spec-rules.js";
import { errorsOf, list, object, type Rule } from "./rule.js";
import { tolerations } from "./selector-rules.js";

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

export const podRule: Rule = (value, _path, errors) => {
  const { metadata, spec } = object(value);
  const cost = object(object(metadata).annotations)[DELETION_COST];
  if (cost !== undefined && !isDeletionCost(String(cost)))
    errors.push(invalidValue(`metadata.annotations[${DELETION_COST}]`, cost, "must be a 32bit integer"));
  checkPodSpec(object(spec), "spec", errors, String(object(metadata).name ?? ""));
};

/** What holds for new pods, and not for templates of them. */
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

function isDeletionCost(text: string): boolean {
  return /^(0|-\d+|[1-9]\d*)$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31;
}

const MUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** A pod is what it was made as, but for images, a nearer deadline and more tolerations. */
export function podUpdate(pod: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const [spec, before] = [object(pod.spec), object(old.spec)];
  for (const name of ["containers", "initContainers"]) {
    if (list(spec[name]).length !== list(before[name]).length) {
      return [...errors, forbiddenField(`spec.${name}`, "pod updates may not add or remove containers")];
    }
    errors.push(...imageErrors(list(spec[name]), `spec.${name}`));
  }
  const deadline = deadlineError(spec.activeDeadlineSeconds, before.activeDeadlineSeconds);
  if (deadline !== undefined) {
    errors.push(deadline);
    if (spec.activeDeadlineSeconds !== undefined) return errors;
  }
  errors.push(...tolerationErrors(spec.tolerations, before.tolerations), ...newGates(spec, before));
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

/** A deadline may come nearer, and not go. */
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

/** Gates are opened one by one, and none is added. */
function newGates(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  const known = list(before.schedulingGates).map(({ name }) => name);
  return list(spec.schedulingGates).flatMap(({ name }, index) => {
    if (known.includes(name)) return [];
    const why = `only deletion is allowed, but found new scheduling gate '${name ?? ""}'`;
    return [forbiddenField(`spec.schedulingGates[${index}].name`, why)];
  });
}

/** The spec with what may change taken back, so that the rest can be compared. */
function withMutableFieldsOf(before: JsonObject, spec: JsonObject): JsonObject {
  const withImages = (name: string): readonly JsonObject[] =>
    list(spec[name]).map((container, index) => ({ ...container, image: list(before[name])[index]?.image ?? "" }));
  const taken = ["activeDeadlineSeconds", "schedulingGates", "tolerations"];
  if (list(before.schedulingGates).length > 0) taken.push("nodeSelector", "affinity");
  const isEnded = Number(before.terminationGracePeriodSeconds) < 0 && spec.terminationGracePeriodSeconds === 1;
  if (isEnded) taken.push("terminationGracePeriodSeconds");
  const rest = Object.fromEntries(Object.entries(spec).filter(([name]) => !taken.includes(name)));
  const kept = Object.fromEntries(Object.entries(before).filter(([name]) => taken.includes(name)));
  return { ...rest, ...kept, containers: withImages("containers"), initContainers: withImages("initContainers") };
}

function tolerationErrors(now: Json | undefined, before: Json | undefined): readonly FieldError[] {
  const kept = isArray(now) ? now : [];
  const withoutSeconds = (value: Json): Json => {
    if (!isObject(value)) return value;
    const { tolerationSeconds: _seconds, ...rest } = value;
    return rest;
  };
  const isLost = (isArray(before) ? before : []).some(
    (old) => !kept.some((each) => deepEqual(withoutSeconds(each), withoutSeconds(old))),
  );
  if (!isLost) return errorsOf(tolerations, kept, "spec.tolerations");
  return [forbiddenField("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}
