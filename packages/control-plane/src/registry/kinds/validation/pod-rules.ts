import { deepEqual, isArray, isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { forbiddenField, invalidValue } from "../../field-error.js";
import type { FieldError } from "../../status-error.js";
import { checkPodSpec } from "./pod-spec-rules.js";
import { list, object, type Rule } from "./rule.js";

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

export const podRule: Rule = (value, _path, errors) => {
  const { metadata, spec } = object(value);
  const cost = object(object(metadata).annotations)[DELETION_COST];
  if (cost !== undefined && !isDeletionCost(String(cost)))
    errors.push(invalidValue(`metadata.annotations[${DELETION_COST}]`, cost, "must be a 32bit integer"));
  checkPodSpec(object(spec), "spec", errors, String(object(metadata).name ?? ""));
};

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
      return [forbiddenField(`spec.${name}`, "pod updates may not add or remove containers")];
    }
  }
  const [deadline, was] = [spec.activeDeadlineSeconds, before.activeDeadlineSeconds];
  if (typeof deadline === "number" && typeof was === "number" && deadline > was) {
    errors.push(
      invalidValue("spec.activeDeadlineSeconds", deadline, `must be less than or equal to previous value ${was}`),
    );
  } else if (deadline === undefined && was !== undefined) {
    errors.push(
      invalidValue("spec.activeDeadlineSeconds", null, "must not update from a positive integer to nil value"),
    );
  }
  errors.push(...lostTolerations(spec.tolerations, before.tolerations));
  if (!deepEqual(fixedPart(spec, before), fixedPart(before, before))) errors.push(forbiddenField("spec", MUTABLE));
  return errors;
}

/** All but what may change. */
function fixedPart(spec: JsonObject, before: JsonObject): Json {
  const { tolerations: _tolerations, activeDeadlineSeconds: _deadline, ...rest } = spec;
  const withoutImages = (value: Json | undefined): Json =>
    list(value).map(({ image: _image, ...container }) => container as JsonObject);
  const isGated = list(before.schedulingGates).length > 0;
  return {
    ...rest,
    containers: withoutImages(spec.containers),
    initContainers: withoutImages(spec.initContainers),
    ephemeralContainers: spec.ephemeralContainers ?? [],
    ...(isGated && { schedulingGates: [], nodeSelector: {}, affinity: {} }),
  };
}

function lostTolerations(now: Json | undefined, before: Json | undefined): FieldError[] {
  const kept = isArray(now) ? now : [];
  const withoutSeconds = (value: Json): Json => {
    if (!isObject(value)) return value;
    const { tolerationSeconds: _seconds, ...rest } = value;
    return rest;
  };
  const isLost = (isArray(before) ? before : []).some(
    (old) => !kept.some((each) => deepEqual(withoutSeconds(each), withoutSeconds(old))),
  );
  const why = "existing toleration can not be modified except its tolerationSeconds";
  return isLost ? [forbiddenField("spec.tolerations", why)] : [];
}
