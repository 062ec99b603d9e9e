import { kindId } from "../../kinds/kind.js";
import type { JsonObject } from "../../kinds/object.js";
import type { Mutator, Validator } from "../admission.js";

type Handler = Validator | Mutator;

/** The policy of a handler in the fields of a webhook configuration. */
export function policyOf({ options }: Handler): JsonObject {
  const { failurePolicy = "Fail", sideEffects = "None", timeoutSeconds = 10 } = options;
  const { namespaceSelector = {}, objectSelector = {}, matchConditions = [] } = options;
  const policy = { failurePolicy, sideEffects, timeoutSeconds, namespaceSelector, objectSelector };
  return { ...policy, ...(matchConditions.length > 0 ? { matchConditions } : {}) } as unknown as JsonObject;
}

const DEFAULT_POLICY = JSON.stringify(policyOf({ options: {} } as Validator));

/**
 * Identifies a policy in the path of its webhook, so that a call reaches only the handlers with these selectors and
 * conditions. It depends on the policy alone, and is empty for the default policy.
 */
export function policyId(handler: Handler): string {
  const policy = JSON.stringify(policyOf(handler));
  if (policy === DEFAULT_POLICY) return "";
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(policy).digest("hex").slice(0, 12);
}

/** The handlers of one kind with equal policies: one webhook call serves all of them. */
export function askedTogether(handlers: readonly Handler[]): readonly (readonly [Handler, ...Handler[]])[] {
  const groups = new Map<string, [Handler, ...Handler[]]>();
  for (const handler of handlers) {
    const id = `${kindId(handler.kind)} ${policyId(handler)}`;
    const group = groups.get(id);
    if (group) group.push(handler);
    else groups.set(id, [handler]);
  }
  return [...groups.values()];
}
