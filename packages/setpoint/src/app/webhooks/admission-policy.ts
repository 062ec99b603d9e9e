import { kindId } from "../../kinds/kind.js";
import type { JsonObject } from "../../kinds/object.js";
import type { Mutator, Validator } from "../admission.js";

type Handler = Validator | Mutator;

/** How the API server asks a handler, in the words of a webhook configuration. */
export function policyOf({ options }: Handler): JsonObject {
  const { failurePolicy = "Fail", sideEffects = "None", timeoutSeconds = 10 } = options;
  const { namespaceSelector = {}, objectSelector = {}, matchConditions = [] } = options;
  const policy = { failurePolicy, sideEffects, timeoutSeconds, namespaceSelector, objectSelector };
  return { ...policy, ...(matchConditions.length > 0 ? { matchConditions } : {}) } as unknown as JsonObject;
}

const DEFAULT_POLICY = JSON.stringify(policyOf({ options: {} } as Validator));

/**
 * Stands for a policy in the path of its webhook, so that a call asks those handlers alone that its selectors and
 * conditions are of. The same for the same policy, whatever else an app has; nothing for the usual one.
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
