import { labelValue } from "setpoint/kinds";
import { isArray, type Json, type JsonObject } from "../../api/json.js";
import { list, object } from "../validation/rule.js";

/** Deprecated node labels. */
export const OLD_LABELS: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** Warns about deprecated labels in a map. `placeOf` gives the path of each. */
export function labelWarnings(labels: Json | undefined, placeOf: (label: string) => string): readonly string[] {
  return Object.keys(object(labels)).flatMap((label) => {
    const why = OLD_LABELS.get(label);
    return why === undefined ? [] : [`${placeOf(label)}: ${why}`];
  });
}

/** Warns about deprecated labels in a term and, with `isJudged`, about invalid label values. */
export function termWarnings(term: JsonObject, path: string, isJudged = false): readonly string[] {
  return list(term.matchExpressions).flatMap(({ key, values }, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const why = OLD_LABELS.get(String(key));
    const ofKey = why === undefined ? [] : [`${at}.key: ${key} is ${why}`];
    if (!isJudged || !isArray(values)) return ofKey;
    const ofValues = values.flatMap((value, position) =>
      labelValue(String(value)).map((bad) => `${at}.values[${position}]: ${value} is invalid, ${bad}`),
    );
    return [...ofKey, ...ofValues];
  });
}
