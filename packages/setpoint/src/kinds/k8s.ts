import type { ValidationRule } from "./builtin/apiextensions.k8s.io/v1.js";
import { quantityPattern } from "./quantity.js";

/** Keywords that Kubernetes adds to JSON Schema; plain data for any schema. */
export type Marker =
  | Readonly<Record<`x-kubernetes-${string}` | "pattern", unknown>>
  | Readonly<Record<string, unknown>>;

/**
 * What Kubernetes can express about a field beyond JSON Schema. In zod a marker is metadata. For a library that does
 * not pass metadata on to JSON Schema, give markers by path: `resource(…, { markers: { "spec.ports":
 * k8s.listMap("name") } })`.
 *
 * ```ts
 * z.object({
 *   ports: z.array(Port).meta(k8s.listMap("name")), // server-side apply merges by name
 *   hosts: z.array(z.string()).meta(k8s.listSet),
 *   memory: z.string().meta(k8s.quantity),
 *   template: z.looseObject({}).meta(k8s.embeddedResource),
 * }).meta(k8s.rules(k8s.rule("self.hosts.size() > 0", "give at least one host")));
 * ```
 */
export const k8s = {
  /** A list with these fields as keys; server-side apply merges its items by them. */
  listMap: (...keys: readonly [string, ...string[]]) => ({
    "x-kubernetes-list-type": "map" as const,
    "x-kubernetes-list-map-keys": keys,
  }),
  /** A list of unique scalars, each owned separately. */
  listSet: { "x-kubernetes-list-type": "set" as const },
  /** A list that one manager owns as a whole. The default for lists. */
  listAtomic: { "x-kubernetes-list-type": "atomic" as const },
  /** An object that one manager owns as a whole. */
  mapAtomic: { "x-kubernetes-map-type": "atomic" as const },
  /** A number or a string; `z.union([z.int(), z.string()])` is one already. */
  intOrString: { "x-kubernetes-int-or-string": true as const },
  /** A string that must be a quantity (`100m`, `1.5Gi`). */
  quantity: { pattern: quantityPattern },
  /** Keeps undeclared fields, and leaves inexpressible parts unchecked. */
  preserveUnknownFields: { "x-kubernetes-preserve-unknown-fields": true as const },
  /** A whole object of any kind; the server validates apiVersion, kind and metadata. */
  embeddedResource: {
    "x-kubernetes-embedded-resource": true as const,
    "x-kubernetes-preserve-unknown-fields": true as const,
  },
  /** A CEL rule; `self` is the value with the rule. */
  rule: (rule: string, message: string, more: Omit<ValidationRule, "rule" | "message"> = {}): ValidationRule => ({
    rule,
    message,
    ...more,
  }),
  /** Attaches CEL rules. Give all rules of a schema in one call: a later call replaces an earlier one. */
  rules: (...rules: readonly ValidationRule[]) => ({ "x-kubernetes-validations": rules }),
} as const;
