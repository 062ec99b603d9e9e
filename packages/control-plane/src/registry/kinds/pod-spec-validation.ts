import type { KubeObject } from "setpoint";
import { deepEqual, isArray, isObject, type Json, type JsonObject } from "../../schema/json.js";
import { duplicate, forbiddenField, required } from "../field-error.js";
import type { FieldError } from "../status-error.js";
import type { StrategyContext } from "../strategy.js";

/** Checks the containers of a pod spec, which is found in the object by its path. */
export function podSpecAt(path: string): (object: KubeObject) => readonly FieldError[] {
  const steps = path.split(".");
  return (object) => {
    let spec: Json | undefined = object as unknown as JsonObject;
    for (const step of steps) spec = isObject(spec) ? spec[step] : undefined;
    return isObject(spec) ? containerErrors(spec, path) : [];
  };
}

const MUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Containers that were not there when the pod started are added through an endpoint of their own. */
export function validatePodUpdate(
  pod: KubeObject,
  old: KubeObject,
  { subresource }: StrategyContext,
): readonly FieldError[] {
  const errors = podSpecAt("spec")(pod);
  if (subresource !== "") return errors;
  const ephemeral = (object: KubeObject): Json =>
    (object as KubeObject & { readonly spec?: JsonObject }).spec?.ephemeralContainers ?? [];
  return deepEqual(ephemeral(pod), ephemeral(old)) ? errors : [...errors, forbiddenField("spec", MUTABLE)];
}

function containerErrors(spec: JsonObject, path: string): readonly FieldError[] {
  const names = new Set<string>();
  return ["containers", "initContainers"].flatMap((list) => {
    const containers = spec[list];
    if (!isArray(containers)) return [];
    return containers.flatMap((container, index) =>
      isObject(container) ? oneContainer(container, `${path}.${list}[${index}]`, names) : [],
    );
  });
}

function oneContainer(container: JsonObject, path: string, names: Set<string>): readonly FieldError[] {
  const name = String(container.name ?? "");
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(`${path}.name`));
  if (!container.image) errors.push(required(`${path}.image`));
  if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
  names.add(name);
  return errors;
}
