import { pathSegmentName } from "setpoint/kinds";
import { duplicate, invalidValue, required } from "../../api/field-error.js";
import { isObject, type JsonObject } from "../../api/json.js";
import { canonicalCidr, isCidr } from "./address-rules.js";
import { internal } from "./internal-struct.js";
import { resourceRequirements } from "./pod/resource-rules.js";
import {
  given,
  IMMUTABLE,
  immutable,
  label1123,
  labels,
  list,
  needed,
  nonNegative,
  object,
  ofSpec,
  type Rule,
  repeatedAt,
  type StructRule,
  struct,
  subdomain,
  text,
  texts,
  type UpdateRule,
} from "./rule.js";
import { tolerations } from "./selector-rules.js";

const revision: Rule = struct({ revision: nonNegative });

const newRevision: Rule = (value, path, errors) => {
  revision(value, path, errors);
  const { data } = object(value);
  if (data === undefined || data === null) errors.push(required("data", "data is mandatory"));
  else if (!isObject(data)) errors.push(required("data", "data must be a valid JSON object"));
};

const scheduling: StructRule = ({ nodeSelector, tolerations: tolerated }, path, errors) => {
  labels(nodeSelector, `${path}.nodeSelector`, errors);
  tolerations(tolerated, `${path}.tolerations`, errors);
  const given = list(tolerated);
  const identity = ({ key = "", operator = "", value = "", effect = "" }: JsonObject): string =>
    JSON.stringify([key, operator, value, effect]);
  for (const index of repeatedAt(given.map(identity))) {
    errors.push(duplicate(`${path}.tolerations[${index}]`, internal("core.Toleration", given[index])));
  }
};

const runtimeClass: Rule = struct({
  handler: needed(label1123),
  overhead: (value, path, errors) => {
    if (value !== undefined) resourceRequirements({ limits: object(value).podFixed ?? {} }, path, errors);
  },
  scheduling: (value, path, errors) => scheduling(object(value), path, errors),
});

const segment = text((value) => pathSegmentName(value, false));

const parent: Rule = (value, path, errors) => {
  if (value === undefined) return void errors.push(required(path));
  return struct({
    group: given(subdomain),
    resource: needed(segment),
    name: needed(segment),
    namespace: given(segment),
  })(value, path, errors);
};

const isV6 = (text: string): boolean => text.includes(":");

const addressRanges: StructRule = ({ cidrs }, path, errors) => {
  const at = `${path}.cidrs`;
  const ranges = texts(cidrs);
  if (ranges.length === 0) return void errors.push(required(at, "at least one CIDR required"));
  if (ranges.length > 2) return void errors.push(invalidValue(at, { cidrs: cidrs! }, "may only hold up to 2 values"));
  for (const [index, range] of ranges.entries()) canonicalCidr(range, `${at}[${index}]`, errors);
  const [first = "", second = ""] = ranges;
  if (ranges.length === 2 && isV6(first) === isV6(second) && isCidr(first) && isCidr(second)) {
    const why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    errors.push(invalidValue(at, cidrs!, why));
  }
  return undefined;
};

/** A ServiceCIDR may get a second range of the other family. Otherwise its ranges are immutable. */
const rangesUpdate: UpdateRule = (changed, old) => {
  const [now, before] = [texts(object(changed.spec).cidrs), texts(object(old.spec).cidrs)];
  const isGrown = before.length === 1 && now.length === 2;
  if (now.length !== before.length && !isGrown) return [invalidValue("spec.cidrs", now, IMMUTABLE)];
  const errors = before.flatMap((range, index) =>
    now[index] === range ? [] : [invalidValue(`spec.cidrs[${index}]`, now[index] ?? "", IMMUTABLE)],
  );
  if (isGrown) addressRanges(object(changed.spec), "spec", errors);
  return errors;
};

export const clusterRules: Readonly<Record<string, Rule>> = {
  "apps/controllerrevisions": newRevision,
  "node.k8s.io/runtimeclasses": runtimeClass,
  "networking.k8s.io/ipaddresses": ofSpec(({ parentRef }, path, errors) =>
    parent(parentRef, `${path}.parentRef`, errors),
  ),
  "networking.k8s.io/servicecidrs": ofSpec(addressRanges),
};

/** A changed object is validated only for immutable fields. A ControllerRevision's number is checked again. */
export const changedClusterRules: Readonly<Record<string, Rule>> = {
  "apps/controllerrevisions": revision,
  "node.k8s.io/runtimeclasses": () => {},
  "networking.k8s.io/ipaddresses": () => {},
  "networking.k8s.io/servicecidrs": () => {},
};

export const clusterUpdates: Readonly<Record<string, UpdateRule>> = {
  "apps/controllerrevisions": immutable("", "data"),
  "node.k8s.io/runtimeclasses": immutable("", "handler"),
  "networking.k8s.io/ipaddresses": immutable("spec", "parentRef"),
  "networking.k8s.io/servicecidrs": rangesUpdate,
};
