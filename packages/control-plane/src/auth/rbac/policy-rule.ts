import { goQuote } from "../../api/go-format.js";
import type { AccessAttributes } from "../../api/user.js";

/** One rule of a role. Absent lists are empty. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  /** `pods`, `pods/status`, `*`, or a subresource of every resource with `*` as the resource. */
  readonly resources?: readonly string[] | null;
  /** Empty means any name. */
  readonly resourceNames?: readonly string[] | null;
  readonly nonResourceURLs?: readonly string[] | null;
}

const ALL = "*";
const NONE: readonly string[] = [];

const includes = (list: readonly string[] | null | undefined, item: string): boolean =>
  list !== null && list !== undefined && (list.includes(ALL) || list.includes(item));

/** Whether this rule allows the request. */
export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (attributes.type === "path") {
    return (rule.nonResourceURLs ?? NONE).some((pattern) => pathMatches(pattern, attributes.path));
  }
  const { group, resource, subresource, name, namespace: _namespace } = attributes;
  if (!includes(rule.apiGroups, group)) return false;
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  const matchesResource =
    includes(rule.resources, combined) || (subresource !== "" && rule.resources?.includes(`*/${subresource}`));
  if (!matchesResource) return false;
  const names = rule.resourceNames ?? NONE;
  return names.length === 0 || names.includes(name);
}

/** A trailing `*` matches any suffix. */
function pathMatches(pattern: string, path: string): boolean {
  if (pattern === ALL || pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, ""));
}

/** Splits `wanted` into rules of one verb, group, resource and name. Returns those that no rule of `held` covers. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(brokenDown).filter((part) => !held.some((rule) => ruleCovers(rule, part)));
}

function brokenDown(rule: PolicyRule): readonly PolicyRule[] {
  const parts: PolicyRule[] = [];
  const names = rule.resourceNames ?? NONE;
  for (const group of rule.apiGroups ?? NONE) {
    for (const resource of rule.resources ?? NONE) {
      for (const verb of rule.verbs ?? NONE) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (names.length === 0) parts.push(part);
        else for (const name of names) parts.push({ ...part, resourceNames: [name] });
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? NONE) {
    for (const verb of rule.verbs ?? NONE) parts.push({ nonResourceURLs: [url], verbs: [verb] });
  }
  return parts;
}

function ruleCovers(rule: PolicyRule, part: PolicyRule): boolean {
  const ownNames = rule.resourceNames ?? NONE;
  const partNames = part.resourceNames ?? NONE;
  return (
    (part.verbs ?? NONE).every((verb) => includes(rule.verbs, verb)) &&
    (part.apiGroups ?? NONE).every((group) => includes(rule.apiGroups, group)) &&
    (part.resources ?? NONE).every((resource) => resourceCovered(rule, resource)) &&
    (part.nonResourceURLs ?? NONE).every((url) =>
      (rule.nonResourceURLs ?? NONE).some((own) => pathMatches(own, url)),
    ) &&
    (ownNames.length === 0 || (partNames.length > 0 && partNames.every((name) => ownNames.includes(name))))
  );
}

function resourceCovered(rule: PolicyRule, resource: string): boolean {
  if (includes(rule.resources, resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && (rule.resources ?? NONE).includes(`*${resource.slice(slash)}`);
}

/** Merges rules that differ only in their verb, so that an error names each resource once. */
export function compactRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const compact: PolicyRule[] = [];
  const byResource = new Map<string, { verbs: string[] }>();
  for (const rule of rules) {
    const isSimple = rule.apiGroups?.length === 1 && rule.resources?.length === 1 && !rule.nonResourceURLs?.length;
    if (!isSimple || (rule.resourceNames?.length ?? 0) > 1) {
      compact.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? NONE]);
    const known = byResource.get(key);
    if (known) {
      known.verbs.push(...(rule.verbs ?? NONE));
      continue;
    }
    const merged = { ...rule, verbs: [...(rule.verbs ?? NONE)] };
    byResource.set(key, merged);
    compact.push(merged);
  }
  return compact;
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function ruleText(rule: PolicyRule): string {
  const parts = (
    [
      ["APIGroups", rule.apiGroups],
      ["Resources", rule.resources],
      ["NonResourceURLs", rule.nonResourceURLs],
      ["ResourceNames", rule.resourceNames],
      ["Verbs", rule.verbs],
    ] as const
  ).flatMap(([label, values]) => (values?.length ? [`${label}:${quotedList(values)}`] : []));
  return `{${parts.join(", ")}}`;
}

/** Formats a list of strings like Go's `%q`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map(goQuote).join(" ")}]`;
}
