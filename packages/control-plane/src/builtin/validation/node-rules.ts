import { labelValue } from "setpoint/kinds";
import { addErrors, fieldErrors } from "../../api/error-budget.js";
import { duplicate, forbiddenField, internalError, invalidValue } from "../../api/field-error.js";
import { isArray, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { cidr, isCidr } from "./address-rules.js";
import { internal } from "./internal-struct.js";
import { resourceAmount } from "./pod/resource-rules.js";
import { list, needed, object, oneOf, qualified, type Rule, texts } from "./rule.js";

const taints: Rule = (value, path, errors) => {
  const seen = new Set<string>();
  for (const [index, taint] of list(value).entries()) {
    const { key = "", value: text = "", effect = "" } = taint;
    const at = `${path}[${index}]`;
    qualified(key, `${at}.key`, errors);
    const complaints = labelValue(String(text));
    if (complaints.length > 0) errors.push(invalidValue(`${at}.value`, text, complaints.join(";")));
    needed(oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"))(effect, `${at}.effect`, errors);
    const id = `${key}/${effect}`;
    if (seen.has(id)) {
      const found = duplicate(at, internal("core.Taint", taint));
      errors.push({ ...found, detail: `${found.detail}: taints must be unique by key and effect pair` });
    }
    seen.add(id);
  }
};

const podRanges: Rule = (value, path, errors) => {
  const ranges = texts(value);
  for (const [index, range] of ranges.entries()) cidr(range, `${path}[${index}]`, errors);
  if (ranges.length < 2) return;
  const bad = ranges.findIndex((range) => !isCidr(range));
  if (bad >= 0) {
    const why = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${ranges[bad]})`;
    errors.push(internalError(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`));
  }
  const families = new Set(ranges.map((range) => range.includes(":")));
  if (bad >= 0 || families.size < 2 || ranges.length > 2) {
    errors.push(invalidValue(path, value, "may specify no more than one CIDR for each IP family"));
  }
};

function resources(status: JsonObject, errors: FieldError[]): void {
  for (const list of ["capacity", "allocatable"]) {
    for (const [name, amount] of Object.entries(object(status[list]))) {
      resourceAmount(name, amount, `status.${list}.${name}`, errors);
    }
  }
}

/** kube-apiserver reports a node's taints below its metadata. */
const TAINTS = "metadata.taints";

export const nodeRule: Rule = (value, _path, errors) => {
  const { spec, status } = object(value);
  taints(object(spec).taints, TAINTS, errors);
  resources(object(status), errors);
  podRanges(object(spec).podCIDRs, "spec.podCIDRs", errors);
};

/** Assigned fields of a node are immutable. The status is validated as well. */
export function nodeUpdate(changed: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const [spec, before, status] = [object(changed.spec), object(old.spec), object(changed.status)];
  resources(status, errors);
  const addresses = new Set<string>();
  for (const [index, address] of list(status.addresses).entries()) {
    const { type = "", address: text = "" } = address;
    const id = `${type}/${text}`;
    if (addresses.has(id)) {
      errors.push(duplicate(`status.addresses[${index}]`, internal("core.NodeAddress", address)));
    }
    addresses.add(id);
  }
  addErrors(errors, lostRanges(spec.podCIDRs, before.podCIDRs));
  if (before.providerID && spec.providerID !== before.providerID) {
    errors.push(forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid'));
  }
  taints(spec.taints, TAINTS, errors);
  if ((spec.externalID ?? "") !== (before.externalID ?? "")) {
    errors.push(forbiddenField("spec.externalID", "may not be updated"));
  }
  return errors;
}

function lostRanges(now: Json | undefined, before: Json | undefined): readonly FieldError[] {
  if (!isArray(before) || before.length === 0) return [];
  const kept = isArray(now) ? now : [];
  const changed = kept.length === before.length ? before.filter((range, index) => range !== kept[index]) : [null];
  const why = 'node updates may not change podCIDR except from "" to valid';
  return changed.map(() => forbiddenField("spec.podCIDRs", why));
}
