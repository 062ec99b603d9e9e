import { k8s } from "setpoint";
import type { DeepReadonly } from "setpoint/kinds";
import { z } from "zod";

/** Schema parts shared by kagent's kinds. */

/** Several optional fields of the same type. */
export const optional = <T extends z.ZodType, Name extends string>(
  type: T,
  ...names: readonly Name[]
): Record<Name, z.ZodOptional<T>> =>
  Object.fromEntries(names.map((name) => [name, type.optional()])) as Record<Name, z.ZodOptional<T>>;

/** CEL rules, each with its message. */
export const rules = (messages: Readonly<Record<string, string>>) =>
  k8s.rules(...Object.entries(messages).map(([rule, message]) => k8s.rule(rule, message)));

export const text = z.string();
export const textList = z.array(text);
export const conditionColumn = (type: string) => ({
  path: `.status.conditions[?(@.type=='${type}')].status`,
  type: "string" as const,
});

/**
 * A part of a PodSpec. The published CRDs contain its schema. Here the field stays open, because the API server
 * validates it as part of the Deployment.
 */
export const podPart = z.looseObject({});
export const podParts = z.array(podPart);
/** A list that server-side apply merges by name. */
export const namedPodParts = z.array(z.looseObject({ name: z.string() }));
export const texts = z.record(z.string(), z.string());
export const localReference = z.object({ name: z.string().default("") }).meta(k8s.mapAtomic);

export const condition = z.object({
  type: z.string().max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32_768),
  lastTransitionTime: z.string().meta({ format: "date-time" }),
  observedGeneration: z.int().min(0).optional(),
});
/** As in the published CRDs: an atomic list for most kinds, and a map by type for some (`sharedConditions`). */
export const conditions = z.array(condition).optional();
export const sharedConditions = z.array(condition).meta(k8s.listMap("type")).optional();

export const valueReference = z.object({
  type: z.enum(["ConfigMap", "Secret"]),
  name: text.max(253),
  key: text.max(253),
});

/** A header with a value or a reference to one. */
export const header = z.object({ name: text, value: text.optional(), valueFrom: valueReference.optional() }).meta(
  rules({
    "(has(self.value) && !has(self.valueFrom)) || (!has(self.value) && has(self.valueFrom))":
      "Exactly one of value or valueFrom must be specified",
  }),
);

const requirement = z.object({ key: text, operator: text, values: textList.optional() });
const labelSelector = z
  .object({ matchLabels: texts.optional(), matchExpressions: z.array(requirement).optional() })
  .meta(k8s.mapAtomic);

/** Which namespaces may refer to an object. */
export const allowedNamespaces = z
  .object({ from: z.enum(["All", "Same", "Selector"]).default("Same"), selector: labelSelector.optional() })
  .meta(
    rules({ "!(self.from == 'Selector' && !has(self.selector))": "selector must be specified when from is Selector" }),
  );

const TLS_FIELDS = {
  disableVerify: z.boolean().default(false),
  disableSystemCAs: z.boolean().default(false),
  ...optional(text, "caCertSecretRef", "caCertSecretKey"),
};
const TLS_RULES = rules({
  "!(has(self.caCertSecretKey) && size(self.caCertSecretKey) > 0 && (!has(self.caCertSecretRef) || size(self.caCertSecretRef) == 0))":
    "caCertSecretKey requires caCertSecretRef",
  "!(has(self.caCertSecretRef) && size(self.caCertSecretRef) > 0 && (!has(self.caCertSecretKey) || size(self.caCertSecretKey) == 0))":
    "caCertSecretRef requires caCertSecretKey",
  "!(has(self.disableSystemCAs) && self.disableSystemCAs && (!has(self.disableVerify) || !self.disableVerify) && (!has(self.caCertSecretRef) || size(self.caCertSecretRef) == 0))":
    "disableSystemCAs requires caCertSecretRef or disableVerify (trust-nothing config rejects every upstream)",
});
export const modelTls = z.object(TLS_FIELDS).meta(TLS_RULES);
/** `clientCertSecretRef` is Setpoint's own field. The published CRD drops it. */
export const serverTls = z.object({ ...TLS_FIELDS, clientCertSecretRef: text.optional() }).meta(TLS_RULES);

export type Tls = DeepReadonly<z.infer<typeof serverTls>>;
export type Header = DeepReadonly<z.infer<typeof header>>;
export type ValueReference = z.infer<typeof valueReference>;
export type AllowedNamespaces = DeepReadonly<z.infer<typeof allowedNamespaces>>;
