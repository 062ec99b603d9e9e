import { isSameJson } from "setpoint/kinds";
import { invalidValue } from "../../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal, isSameInternal } from "../internal-struct.js";
import { IMMUTABLE, isEmpty, list, object } from "../rule.js";
import { INDEXED } from "./batch-rules.js";

/** Fields that messages show as internal structs. */
const STRUCTS: Readonly<Record<string, string>> = {
  selector: "*meta.LabelSelector",
  template: "core.PodTemplateSpec",
  podFailurePolicy: "*batch.PodFailurePolicy",
  successPolicy: "*batch.SuccessPolicy",
};

/**
 * A Job keeps the fields that its pods were created from. Parallelism and suspend may change, and so may the
 * completions of an elastic Job.
 */
export function jobUpdate(job: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [object(job.spec), object(old.spec)];
  const same = (name: string): readonly FieldError[] => {
    const struct = STRUCTS[name] ?? "null";
    if (isSameInternal(struct, spec[name], before[name])) return [];
    return [invalidValue(`spec.${name}`, internal(struct, spec[name]), IMMUTABLE)];
  };
  return [
    ...(spec.completionMode === INDEXED ? elastic(spec, before) : same("completions")),
    ...same("selector"),
    ...(isChangeable(old) ? templateUpdate(spec.template, before.template) : same("template")),
    ...["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"].flatMap(same),
  ];
}

function elastic({ completions, parallelism }: JsonObject, before: JsonObject): readonly FieldError[] {
  const isKept = isSameJson(completions ?? null, before.completions ?? null);
  if (isKept || completions === undefined || completions === parallelism) return [];
  return [invalidValue("spec.completions", completions, "can only be modified in tandem with spec.parallelism")];
}

/** A suspended Job without pods may still change the scheduling and the resources of its template. */
function isChangeable({ spec, status }: JsonObject): boolean {
  const { startTime, conditions, active } = object(status);
  const isHeld = list(conditions).some((each) => each.type === "Suspended" && each.status === "True");
  return object(spec).suspend === true && (startTime === undefined || isHeld) && !active;
}

function templateUpdate(template: Json | undefined, before: Json | undefined): readonly FieldError[] {
  const [next, kept] = [object(object(template).spec), object(object(before).spec)];
  const given = Object.entries(next).filter(([name]) => PLACING.includes(name));
  const rest = Object.entries(kept).filter(([name]) => !PLACING.includes(name) && name !== "affinity");
  const expected: JsonObject = {
    ...Object.fromEntries([...rest, ...given]),
    ...withAffinityOf(next.affinity, kept.affinity),
    ...withResourcesOf(next, kept, "containers"),
    ...withResourcesOf(next, kept, "initContainers"),
  };
  if (isSameInternal("core.PodSpec", next, expected)) return [];
  return [invalidValue("spec.template.spec", internal("core.PodSpec", next), IMMUTABLE)];
}

const PLACING = ["nodeSelector", "tolerations", "schedulingGates"];

/** The old affinity with the new node affinity. */
function withAffinityOf(next: Json | undefined, kept: Json | undefined): JsonObject {
  const { nodeAffinity: _changed, ...others } = object(kept);
  if (!isObject(next)) return isEmpty(others) ? {} : { affinity: others };
  const { nodeAffinity } = next;
  return { affinity: { ...others, ...(nodeAffinity !== undefined && { nodeAffinity }) } };
}

/** The old containers with the resources of the new ones, if they have the same names. */
function withResourcesOf(next: JsonObject, kept: JsonObject, name: string): JsonObject {
  const [now, were] = [list(next[name]), list(kept[name])];
  if (now.length !== were.length) return {};
  const containers = were.map((container, index) => {
    const { resources, name: called } = now[index]!;
    return called === container.name ? { ...container, resources: resources ?? {} } : container;
  });
  return { [name]: containers };
}
