import { invalidValue } from "../../../api/field-error.js";
import { field, isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal, isSameInternal } from "../internal-struct.js";
import { list, object } from "../rule.js";

const NEEDED = "requiredDuringSchedulingIgnoredDuringExecution";
const TERMS = `spec.affinity.nodeAffinity.${NEEDED}.nodeSelectorTerms`;

export const isGated = (spec: JsonObject): boolean => list(spec.schedulingGates).length > 0;

/** The node selector and affinity of a gated pod may only become narrower. */
export function narrowingErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  return [
    ...selectorErrors(spec.nodeSelector, object(before.nodeSelector)),
    ...affinityErrors(object(spec.affinity).nodeAffinity, object(before.affinity).nodeAffinity),
  ];
}

function selectorErrors(selector: Json | undefined, before: JsonObject): readonly FieldError[] {
  const isKept = Object.keys(before).every((key) => field(object(selector), key) === before[key]);
  if (isKept) return [];
  const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
  return [invalidValue("spec.nodeSelector", selector ?? null, why)];
}

function affinityErrors(affinity: Json | undefined, before: Json | undefined): readonly FieldError[] {
  const [terms, old] = [termsOf(affinity), termsOf(before)];
  if (old.length === 0) return [];
  if (old.length !== terms.length) {
    const shown = internal("[]core.NodeSelectorTerm", object(object(affinity)[NEEDED]).nodeSelectorTerms);
    const why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    return [invalidValue(TERMS, shown, why)];
  }
  return terms.flatMap((term, index) => {
    if (isNarrower(term, old[index]!)) return [];
    const why = "only additions are allowed (no mutations or deletions)";
    return [invalidValue(`${TERMS}[${index}]`, internal("core.NodeSelectorTerm", term), why)];
  });
}

const termsOf = (affinity: Json | undefined): readonly JsonObject[] =>
  list(object(object(affinity)[NEEDED]).nodeSelectorTerms);

/** Whether a term still starts with all its old requirements. An empty term matches nothing and must stay empty. */
function isNarrower(term: JsonObject, before: JsonObject): boolean {
  const fields = ["matchExpressions", "matchFields"];
  if (fields.every((name) => list(before[name]).length === 0)) {
    return fields.every((name) => list(term[name]).length === 0);
  }
  return fields.every((name) => {
    const old = list(before[name]);
    return isSameInternal("[]core.NodeSelectorRequirement", list(term[name]).slice(0, old.length), old);
  });
}

/** The affinity with its old node affinity, which may change. */
export function withNodeAffinityOf(before: Json | undefined, affinity: Json | undefined): JsonObject | undefined {
  const { nodeAffinity: old } = object(before);
  const { nodeAffinity, ...others } = object(affinity);
  if (isSameInternal("*core.NodeAffinity", nodeAffinity, old)) return isObject(affinity) ? affinity : undefined;
  const isAllOfIt = !isObject(before) && Object.keys(others).length === 0;
  if (isAllOfIt || (!isObject(affinity) && old === undefined)) return undefined;
  return { ...others, ...(old !== undefined && { nodeAffinity: old }) };
}
