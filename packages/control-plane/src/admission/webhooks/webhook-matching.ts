import type { KubeObject } from "setpoint";
import { notFound } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { everything } from "../../registry/selectors/object-label-selector.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import type { Storage } from "../../storage/storage.js";
import type { InstalledWebhook, WebhookRule } from "./webhook.js";

/** A webhook that matches a request, and the version at which it matches. */
export interface Invocation {
  readonly installed: InstalledWebhook;
  readonly definition: ResourceDefinition;
}

/** Webhooks and policies never see the configurations of admission, so that a broken one can be repaired. */
const EXEMPT: ReadonlySet<string> = new Set([
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "mutatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "validatingwebhookconfigurations",
]);

export function isExempt({ group, plural }: ResourceDefinition): boolean {
  return group === "admissionregistration.k8s.io" && EXEMPT.has(plural);
}

/** A namespace counts as an object inside itself. */
export function admissionNamespace({ definition, namespace, name }: AdmissionAttributes): string {
  return isNamespace(definition) ? name : namespace;
}

function isNamespace({ group, plural }: ResourceDefinition): boolean {
  return group === "" && plural === "namespaces";
}

/**
 * How a webhook matches this request. Undefined if it does not match. `equivalents` returns the other versions or
 * groups that serve the same objects. Throws 404 if a selector needs the labels of a missing namespace.
 */
export function invocationOf(
  installed: InstalledWebhook,
  attributes: AdmissionAttributes,
  storage: Storage,
  equivalents: (definition: ResourceDefinition) => readonly ResourceDefinition[],
): Invocation | undefined {
  const { webhook, objectSelector } = installed;
  const { definition, object, oldObject } = attributes;
  if (objectSelector !== everything) {
    const isSelected = [object, oldObject].some((each) => each && objectSelector(each.metadata?.labels));
    if (!isSelected) return undefined;
  }
  const rules = webhook.rules ?? [];
  const wants = (candidate: ResourceDefinition) => rules.some((rule) => ruleMatches(rule, candidate, attributes));
  const other = (): ResourceDefinition | undefined => {
    if (webhook.matchPolicy === "Exact") return undefined;
    const others = equivalents(definition);
    // Earlier rules first.
    for (const rule of rules) {
      const found = others.find((candidate) => ruleMatches(rule, candidate, attributes));
      if (found) return found;
    }
    return undefined;
  };
  const wanted = wants(definition) ? definition : other();
  if (!wanted || !matchesNamespace(installed, attributes, storage)) return undefined;
  return { installed, definition: wanted };
}

function ruleMatches(rule: WebhookRule, definition: ResourceDefinition, attributes: AdmissionAttributes): boolean {
  const { operation, subresource } = attributes;
  return (
    scopeMatches(rule, definition) &&
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, definition.group) &&
    includes(rule.apiVersions, definition.version) &&
    (rule.resources ?? []).some((resource) => resourceMatches(resource, definition.plural, subresource))
  );
}

function scopeMatches({ scope = "*" }: WebhookRule, { namespaced }: ResourceDefinition): boolean {
  return scope === "*" || (scope === "Namespaced") === namespaced;
}

function includes(items: readonly string[] | null | undefined, item: string): boolean {
  return items?.includes("*") || items?.includes(item) || false;
}

/**
 * Before the slash, `*` matches every resource. After it, `*` matches every subresource, and also the resource itself.
 * A pattern without a slash matches only the resource itself.
 */
function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf("/");
  const [resource, part] = slash < 0 ? [pattern, ""] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (resource === "*" || resource === plural) && (part === "*" || part === subresource);
}

/** Cluster-scoped objects other than namespaces always match. */
function matchesNamespace(
  { namespaceSelector }: InstalledWebhook,
  attributes: AdmissionAttributes,
  storage: Storage,
): boolean {
  const { definition, operation, subresource, object } = attributes;
  const namespace = admissionNamespace(attributes);
  if (namespaceSelector === everything || (namespace === "" && !isNamespace(definition))) return true;
  const isWrittenNow = isNamespace(definition) && subresource === "" && operation !== "DELETE";
  const home: KubeObject | undefined = isWrittenNow ? object : storage.head("/namespaces", namespace)?.object;
  if (!home) throw notFound({ group: "", resource: "namespaces" }, namespace);
  return namespaceSelector(home.metadata.labels);
}
