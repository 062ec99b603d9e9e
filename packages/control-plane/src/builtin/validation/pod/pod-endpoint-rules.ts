import type { KubeObject } from "setpoint";
import { isSameJson } from "setpoint/kinds";
import { addErrors, fieldErrors } from "../../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, notFound } from "../../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { qosClassOf } from "../../pod-qos.js";
import { internalDiff, isSameInternal } from "../internal-struct.js";
import { isEmpty, list, object, type UpdateRule } from "../rule.js";
import { container } from "./container-rules.js";
import { podRule } from "./pod-rules.js";

const MIRROR = "kubernetes.io/config.mirror";

const isStatic = (pod: JsonObject): boolean => Object.hasOwn(object(object(pod.metadata).annotations), MIRROR);

const namesOf = (spec: JsonObject, ...lists: readonly string[]): Set<Json> =>
  new Set(lists.flatMap((name) => list(spec[name]).map((each) => each.name ?? "")));

const NOT_EPHEMERAL = ["ports", "resources", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"];
const FORBIDDEN = "cannot be set for an Ephemeral Container";

/** Ephemeral containers can only be added. Existing ones are immutable. */
export const ephemeralContainersUpdate: UpdateRule = (pod, old) => {
  if (isStatic(old)) return [forbiddenField("", "static pods do not support ephemeral containers")];
  const errors = fieldErrors();
  podRule(pod, "", errors);
  const [spec, before] = [object(pod.spec), object(old.spec)];
  addErrors(errors, ephemeralContainerErrors(spec));
  const now = new Map(list(spec.ephemeralContainers).map((each) => [each.name ?? "", each]));
  for (const each of list(before.ephemeralContainers)) {
    const name = String(each.name ?? "");
    const kept = now.get(name);
    const refuse = (why: string): number =>
      errors.push(forbiddenField("spec.ephemeralContainers", `existing ephemeral containers "${name}" ${why}`));
    if (kept === undefined) refuse("may not be removed\n");
    else if (!isSameInternal("core.EphemeralContainer", kept, each)) {
      refuse(`may not be changed\n${internalDiff("core.EphemeralContainer", each, kept)}`);
    }
  }
  return errors;
};

function ephemeralContainerErrors(spec: JsonObject): readonly FieldError[] {
  const errors = fieldErrors();
  const volumes = new Set(list(spec.volumes).map(({ name }) => String(name ?? "")));
  const common = container(volumes, spec);
  const others = namesOf(spec, "containers", "initContainers");
  const names = new Set(others);
  for (const [index, each] of list(spec.ephemeralContainers).entries()) {
    const at = `spec.ephemeralContainers[${index}]`;
    common(each, at, errors);
    const { name = "", targetContainerName: target } = each;
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (target && !others.has(target)) errors.push(notFound(`${at}.targetContainerName`, target));
    for (const field of NOT_EPHEMERAL) {
      if (!isEmpty(each[field])) errors.push(forbiddenField(`${at}.${field}`, FORBIDDEN));
    }
    for (const [mount, { subPath, subPathExpr }] of list(each.volumeMounts).entries()) {
      if (subPath) errors.push(forbiddenField(`${at}.volumeMounts[${mount}].subPath`, FORBIDDEN));
      if (subPathExpr) errors.push(forbiddenField(`${at}.volumeMounts[${mount}].subPathExpr`, FORBIDDEN));
    }
  }
  return errors;
}

const RESIZABLE = ["cpu", "memory"];

/** A resize may change only CPU and memory. It may not remove a request or limit, nor change the QoS class. */
export const resizeUpdate: UpdateRule = (pod, old) => {
  if (isStatic(old)) return [forbiddenField("", "static pods cannot be resized")];
  const [spec, before] = [object(pod.spec), object(old.spec)];
  if (object(before.os).name === "windows") return [forbiddenField("", "windows pods cannot be resized")];
  const errors = fieldErrors();
  podRule(pod, "", errors);
  const qos = qosClassOf(old as unknown as KubeObject);
  if (qos !== qosClassOf(pod as unknown as KubeObject)) {
    errors.push(invalidValue("spec", qos, "Pod QOS Class may not change as a result of resizing"));
  }
  if (!isResizeSupported(old)) {
    errors.push(forbiddenField("spec", "Pod running on node without support for resize"));
  }
  addErrors(errors, podLevelErrors(spec.resources, before.resources));
  const moved = ["containers", "initContainers"].flatMap((name) => orderErrors(spec, before, name));
  if (moved.length > 0) return [...errors, ...moved];
  for (const name of ["initContainers", "containers"]) {
    const now = list(spec[name]);
    for (const [index, each] of list(before[name]).entries()) {
      const at = `spec.${name}[${index}].resources`;
      addErrors(errors, removalErrors(object(now[index]!.resources), object(each.resources), at, "resource"));
    }
  }
  for (const name of ["containers", "initContainers"]) {
    const was = list(before[name]);
    for (const [index, each] of list(spec[name]).entries()) {
      if (isResizeAlone(object(each.resources), object(was[index]!.resources))) continue;
      errors.push(
        name === "containers"
          ? forbiddenField("spec", "only cpu and memory resources are mutable")
          : forbiddenField(
              `spec.initContainers[${index}]`,
              "only cpu and memory resources for init or sidecar containers are mutable",
            ),
      );
    }
  }
  return errors;
};

/** A node that does not report the resources of a running container is too old to resize it. */
function isResizeSupported(pod: JsonObject): boolean {
  const running = list(object(pod.status).containerStatuses).find(({ state }) => isObject(object(state).running));
  return running === undefined || isObject(running.resources);
}

function podLevelErrors(now: Json | undefined, before: Json | undefined): readonly FieldError[] {
  const isSet = (resources: Json | undefined): boolean =>
    !isEmpty(object(resources).requests) || !isEmpty(object(resources).limits);
  if (!isSet(now) && !isSet(before)) return [];
  if (isObject(before) && !isObject(now)) {
    return [forbiddenField("spec.resources", "pod-level resources cannot be removed")];
  }
  const errors = removalErrors(object(now), object(before), "spec.resources", "pod-level resource");
  if (isResizeAlone(object(now), object(before))) return errors;
  return [...errors, forbiddenField("spec", "only cpu and memory resources are mutable at pod-level")];
}

function orderErrors(spec: JsonObject, before: JsonObject, name: string): readonly FieldError[] {
  const [now, was] = [list(spec[name]), list(before[name])];
  if (now.length !== was.length) {
    return [forbiddenField(`spec.${name}`, `${name} may not be added or removed on resize`)];
  }
  const errors = fieldErrors();
  for (const [index, each] of was.entries()) {
    if (now[index]!.name === each.name) continue;
    errors.push(forbiddenField(`spec.${name}[${index}].name`, `${name} may not be renamed or reordered on resize`));
  }
  return errors;
}

function removalErrors(now: JsonObject, before: JsonObject, path: string, what: string): FieldError[] {
  return ["requests", "limits"].flatMap((kind) => {
    const isRemoved = Object.keys(object(before[kind])).some((name) => !Object.hasOwn(object(now[kind]), name));
    return isRemoved ? [forbiddenField(`${path}.${kind}`, `${what} ${kind} cannot be removed`)] : [];
  });
}

function isResizeAlone(now: JsonObject, before: JsonObject): boolean {
  const others = (amounts: Json | undefined): JsonObject =>
    Object.fromEntries(Object.entries(object(amounts)).filter(([name]) => !RESIZABLE.includes(name)));
  return (
    isSameJson(others(now.requests), others(before.requests)) &&
    isSameJson(others(now.limits), others(before.limits)) &&
    isSameJson(now.claims ?? null, before.claims ?? null)
  );
}
