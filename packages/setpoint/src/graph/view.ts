import { deepFreeze } from "./canonical.js";
import { dueOf } from "./draft.js";
import { errorOf } from "./explain.js";
import type { GraphResource } from "./resource.js";
import type { Node } from "./state.js";

/** A node as users see it. */
export function viewOf(node: Node): GraphResource {
  const error = errorOf(node);
  const due = node.status === "idle" || node.status === "waiting" ? dueOf(node) : undefined;
  const outputVersion = node.trace?.outputVersion;
  return {
    meta: deepFreeze(node.meta),
    spec: node.spec,
    state: node.state,
    status: node.status,
    warnings: node.status === "idle" || node.status === "waiting" ? (node.trace?.warnings ?? []) : [],
    ...(error ? { error } : {}),
    ...(outputVersion === undefined ? {} : { outputVersion }),
    ...(due ? { runAgainOn: due.at } : {}),
  };
}
