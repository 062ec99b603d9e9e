import { dnsLabel, dnsSubdomain, isSameJson, labelValue, qualifiedName } from "setpoint/kinds";
import { fieldErrors, isFull } from "../../api/error-budget.js";
import { duplicate, invalidValue, notSupported, required } from "../../api/field-error.js";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { canonicalQuantity, quantityNanos } from "../../schema/quantity.js";

/**
 * Validates one place in a built-in kind. Adds the errors of `value`, which is at `path`, to `errors`. An absent
 * value is undefined. Go's zero values count as absent where they do in kube-apiserver.
 */
export interface Rule {
  (value: Json | undefined, path: string, errors: FieldError[]): void;
  /** Whether the rule ignores absent values. It is then skipped: structs have dozens of fields, most of them absent. */
  readonly isOfPresent?: boolean;
}

/** Marks a rule that ignores absent values. */
function ofPresent(rule: Rule): Rule {
  return Object.assign(rule, { isOfPresent: true });
}

/** A rule for a struct that is present. */
export type StructRule = (struct: JsonObject, path: string, errors: FieldError[]) => void;

/** The rules of a struct's fields, in the order of kube-apiserver's errors. */
export function struct(fields: Readonly<Record<string, Rule>>, ...more: readonly StructRule[]): Rule {
  const entries = Object.entries(fields);
  return ofPresent((value, path, errors) => {
    if (!isObject(value)) return;
    for (const [name, rule] of entries) {
      const field = value[name];
      if (field === undefined && rule.isOfPresent) continue;
      rule(field, path === "" ? name : `${path}.${name}`, errors);
    }
    for (const rule of more) rule(value, path, errors);
  });
}

/** Applies a rule to each item of a list. */
export function each(rule: Rule): Rule {
  return ofPresent((value, path, errors) => {
    if (!isArray(value)) return;
    for (let index = 0; index < value.length && !isFull(errors); index++)
      rule(value[index], `${path}[${index}]`, errors);
  });
}

/** Applies a rule to each value of a map. The path contains the key: `limits[cpu]`. */
export function entriesOf(rule: (key: string, value: Json, path: string, errors: FieldError[]) => void): Rule {
  return ofPresent((value, path, errors) => {
    if (!isObject(value)) return;
    for (const key of Object.keys(value)) {
      if (isFull(errors)) return;
      rule(key, value[key]!, `${path}[${key}]`, errors);
    }
  });
}

/** Applies several rules in order. */
export function all(...rules: readonly Rule[]): Rule {
  const one: Rule = (value, path, errors) => {
    for (const rule of rules) rule(value, path, errors);
  };
  return rules.every(({ isOfPresent }) => isOfPresent) ? ofPresent(one) : one;
}

export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Requires a value, and applies further rules to it. */
export function needed(...rules: readonly Rule[]): Rule {
  return neededWith("", ...rules);
}

export function neededWith(detail: string, ...rules: readonly Rule[]): Rule {
  return (value, path, errors) => {
    if (isEmpty(value)) errors.push(required(path, detail));
    else for (const rule of rules) rule(value, path, errors);
  };
}

/** Applies rules to a non-empty value. */
export function given(...rules: readonly Rule[]): Rule {
  return ofPresent((value, path, errors) => {
    if (value === undefined || value === null || value === "") return;
    for (const rule of rules) rule(value, path, errors);
  });
}

/** Applies rules to the value of a pointer, which may be an empty string. */
export function pointed(...rules: readonly Rule[]): Rule {
  return ofPresent((value, path, errors) => {
    if (value === undefined || value === null) return;
    for (const rule of rules) rule(value, path, errors);
  });
}

/** Turns each complaint about a text into an error. */
export function text(complaints: (value: string) => readonly string[]): Rule {
  return (value, path, errors) => {
    const given = typeof value === "string" ? value : "";
    for (const complaint of complaints(given)) errors.push(invalidValue(path, given, complaint));
  };
}

export function oneOf(...allowed: readonly string[]): Rule {
  return (value, path, errors) => {
    if (!allowed.includes(String(value ?? ""))) errors.push(notSupported(path, value ?? "", allowed));
  };
}

/** Requires a number that satisfies the condition. */
export function number(holds: (value: number) => boolean, detail: string): Rule {
  return (value, path, errors) => {
    const given = typeof value === "number" ? value : 0;
    if (!holds(given)) errors.push(invalidValue(path, given, detail));
  };
}

export const between = (least: number, most: number): Rule =>
  number((value) => value >= least && value <= most, `must be between ${least} and ${most}, inclusive`);

export const nonNegative = number((value) => value >= 0, "must be greater than or equal to 0");
export const positive = number((value) => value > 0, "must be greater than 0");
export const aboveZero = number((value) => value > 0, "must be greater than zero");
export const port = between(1, 65_535);
export const label1123 = text(dnsLabel);
export const subdomain = text((value) => dnsSubdomain(value));
export const qualified = text(qualifiedName);

const PORT_NAME = /^[-a-z0-9]+$/;

/** Errors in a port name. */
export function portNameComplaints(name: string): readonly string[] {
  const complaints: string[] = [];
  if (name.length > 15) complaints.push("must be no more than 15 characters");
  if (!PORT_NAME.test(name)) complaints.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) complaints.push("must contain at least one letter (a-z)");
  if (name.includes("--")) complaints.push("must not contain consecutive hyphens");
  if (name !== "" && (name.startsWith("-") || name.endsWith("-"))) {
    complaints.push("must not begin or end with a hyphen");
  }
  return complaints;
}

export const portName = text(portNameComplaints);
export const protocol = oneOf("SCTP", "TCP", "UDP");

/** A port number or name. */
export const portReference: Rule = (value, path, errors) =>
  (typeof value === "string" ? portName : port)(value, path, errors);

/** A non-negative integer or a percentage. */
export const countOrPercent: Rule = (value, path, errors) => {
  if (typeof value === "number") return nonNegative(value, path, errors);
  if (/^[0-9]+%$/.test(String(value))) return undefined;
  const form = "a valid percent string must be a numeric string followed by an ending '%'";
  errors.push(invalidValue(path, value, `${form} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`));
  return undefined;
};

/** The percentage in a text; undefined for a number. */
export function percentOf(value: Json | undefined): number | undefined {
  const match = /^([0-9]+)%$/.exec(String(value));
  return match ? Number(match[1]) : undefined;
}

export const notAboveAll: Rule = (value, path, errors) => {
  if ((percentOf(value) ?? 0) > 100) errors.push(invalidValue(path, value, "must not be greater than 100%"));
};

/** Labels, or a selector that is a map of labels. */
export const labels: Rule = (value, path, errors) => {
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    for (const complaint of qualifiedName(key)) errors.push(invalidValue(path, key, complaint));
    for (const complaint of labelValue(String(item))) errors.push(invalidValue(path, item, complaint));
  }
};

/** Annotation keys follow the rules of label keys, but ignore case. */
export const annotations: Rule = (value, path, errors) => {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    for (const complaint of qualifiedName(key.toLowerCase())) errors.push(invalidValue(path, key, complaint));
  }
};

/** The positions of repeated values. */
export function repeatedAt(values: readonly Json[]): ReadonlySet<number> {
  const seen = new Set<Json>();
  const repeated = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) repeated.add(index);
    seen.add(value);
  }
  return repeated;
}

/** No two items of a list may have the same value in this field. */
export function unique(name: string): Rule {
  return (value, path, errors) => {
    if (!isArray(value)) return;
    const seen = new Set<Json>();
    for (const [index, item] of value.entries()) {
      const key = isObject(item) ? item[name] : undefined;
      if (key === undefined || key === "") continue;
      if (seen.has(key)) errors.push(duplicate(`${path}[${index}].${name}`, key));
      seen.add(key);
    }
  };
}

export const IMMUTABLE = "field is immutable";

/** Validates a change. */
export type UpdateRule = (object: JsonObject, old: JsonObject) => readonly FieldError[];

/** Fields below `parent` ("" for the object itself) that are immutable. */
export function immutable(parent: string, ...names: readonly string[]): UpdateRule {
  const of = (whole: JsonObject): JsonObject => (parent === "" ? whole : object(whole[parent]));
  return (changed, old) =>
    names.flatMap((name) => {
      const [now, before] = [of(changed)[name], of(old)[name]];
      if (isSameJson(now ?? null, before ?? null)) return [];
      // kube-apiserver shows a removed string as an empty one.
      const shown = now ?? (typeof before === "string" ? "" : null);
      return [invalidValue(parent === "" ? name : `${parent}.${name}`, shown, IMMUTABLE)];
    });
}

/** Combines several rules. */
export function updates(...rules: readonly UpdateRule[]): UpdateRule {
  return (changed, old) => rules.flatMap((rule) => rule(changed, old));
}

export const nanosOf = (value: Json | undefined): bigint =>
  value === undefined || value === null ? 0n : quantityNanos(String(value));

export const quantityText = (value: Json | undefined): string => canonicalQuantity(String(value ?? "0"));

export const nonNegativeQuantity: Rule = (value, path, errors) => {
  if (nanosOf(value) < 0n) {
    errors.push(invalidValue(path, quantityText(value), "must be greater than or equal to 0"));
  }
};

export const positiveQuantity: Rule = (value, path, errors) => {
  if (nanosOf(value) <= 0n) errors.push(invalidValue(path, quantityText(value), "must be greater than zero"));
};

export function list(value: Json | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : [];
}

export function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function texts(value: Json | undefined): readonly string[] {
  return isArray(value) ? value.map(String) : [];
}

/** A rule for the spec of an object, which may be absent. */
export function ofSpec(rule: StructRule): Rule {
  return (value, _path, errors) => rule(object(object(value).spec), "spec", errors);
}

/** The errors of a whole object. */
export function errorsOf(rule: Rule, value: Json, path = ""): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  rule(value, path, errors);
  return errors;
}
