import type { ValidationRule } from "./builtin/apiextensions.k8s.io/v1.js";
import { quantityPattern } from "./quantity.js";

/** Keywords that JSON Schema does not have and Kubernetes does; plain data that any schema can carry. */
export type Marker =
  | Readonly<Record<`x-kubernetes-${string}` | "pattern", unknown>>
  | Readonly<Record<string, unknown>>;

/**
 * What Kubernetes can say of a field beyond JSON Schema. In zod a marker is metadata; with a library that does not pass
 * metadata on to JSON Schema, `resource(…, { markers: { "spec.ports": k8s.listMap("name") } })` says it by path.
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
  /** A list of different scalars, each owned by itself. */
  listSet: { "x-kubernetes-list-type": "set" as const },
  /** A list that one manager owns as a whole. What lists are unless marked. */
  listAtomic: { "x-kubernetes-list-type": "atomic" as const },
  /** An object that one manager owns as a whole. */
  mapAtomic: { "x-kubernetes-map-type": "atomic" as const },
  /** A number or a text; `z.union([z.int(), z.string()])` is one already. */
  intOrString: { "x-kubernetes-int-or-string": true as const },
  /** A text that must be a quantity (`100m`, `1.5Gi`). */
  quantity: { pattern: quantityPattern },
  /** Fields that are not declared are kept; what cannot be expressed is left unchecked. */
  preserveUnknownFields: { "x-kubernetes-preserve-unknown-fields": true as const },
  /** A whole object of any kind, with apiVersion, kind and metadata, which the server checks. */
  embeddedResource: {
    "x-kubernetes-embedded-resource": true as const,
    "x-kubernetes-preserve-unknown-fields": true as const,
  },
  /** A CEL rule; `self` is the value that carries it. */
  rule: (rule: string, message: string, more: Omit<ValidationRule, "rule" | "message"> = {}): ValidationRule => ({
    rule,
    message,
    ...more,
  }),
  /** Attaches CEL rules. All of a schema's rules in one call: a later one replaces an earlier. */
  rules: (...rules: readonly ValidationRule[]) => ({ "x-kubernetes-validations": rules }),
} as const;
