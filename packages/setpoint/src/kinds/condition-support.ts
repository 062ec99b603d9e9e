import type { NewCondition } from "./condition.js";
import type { ResourceDeclaration } from "./declaration.js";
import type { Kind } from "./kind.js";
import { ownField } from "./own-field.js";
import { validateValue } from "./schema/validation.js";

/**
 * Whether the status of a kind can have conditions: `declared` if its schema has them, `none` if servers would prune
 * them, `unknown` if the schema is not known here, or leaves the status open.
 */
export type ConditionSupport = "declared" | "none" | "unknown";

export function conditionSupport(kind: Kind): ConditionSupport {
  const declaration = declarationOf(kind);
  if (!declaration) return "unknown";
  const status = ownField(declaration.schema.properties, "status");
  if (!status) return "none";
  if (ownField(status.properties, "conditions")) return "declared";
  const isOpen = status["x-kubernetes-preserve-unknown-fields"] === true || status.additionalProperties !== undefined;
  return isOpen ? "unknown" : "none";
}

/** Whether the declared schema of a kind allows this condition; a schema may list the allowed types or fields. */
export function acceptsCondition(kind: Kind, condition: NewCondition, lastTransitionTime: string): boolean {
  const status = ownField(declarationOf(kind)?.schema.properties, "status");
  const conditions = ownField(status?.properties, "conditions");
  if (!conditions) return false;
  return validateValue([{ message: "", ...condition, lastTransitionTime }], conditions, "").length === 0;
}

function declarationOf(kind: Kind): ResourceDeclaration | undefined {
  return (kind as Kind & { readonly declaration?: ResourceDeclaration }).declaration;
}
