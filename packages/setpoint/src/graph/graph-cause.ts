import { type CauseRules, describeLoopCause, type LoopCause, mergeCauses } from "../loop/cause.js";
import { nameText, type ResourceName } from "./resource.js";

/** Why a resource will run. */
export type GraphCause =
  /** The graph was opened. */
  | { readonly type: "restart" }
  | { readonly type: "created" }
  /** Spec or refs were updated. */
  | { readonly type: "updated" }
  | { readonly type: "deleted" }
  | { readonly type: "renamed"; readonly from: ResourceName }
  /** A ref has finished a run, or is gone. */
  | { readonly type: "ref"; readonly name: ResourceName; readonly change: "finished" | "deleted" }
  /** A caller requested a run, maybe with a reason. */
  | { readonly type: "requested"; readonly why?: string }
  /** A run was cancelled, so its work is still to be done. */
  | { readonly type: "interrupted" }
  /** The resource is no longer on a cycle. */
  | { readonly type: "uncycled" }
  | LoopCause;

const RULES: CauseRules<GraphCause> = {
  identityOf: (cause) => (cause.type === "ref" ? `ref ${nameText(cause.name)}` : cause.type),
  isOneOfMany: ({ type }) => type === "ref" || type === "more",
};

/** All causes of both, each once; more than 32 refs are only counted. */
export function mergeGraphCauses(earlier: readonly GraphCause[], later: readonly GraphCause[]): readonly GraphCause[] {
  if (earlier.length === 0) return later;
  return later.length === 0 ? earlier : mergeCauses(earlier, later, RULES);
}

/** Whether the cause only says that something may have changed: with equal inputs no run is needed. */
export function isSoft({ type }: GraphCause): boolean {
  return ["restart", "created", "updated", "renamed", "ref", "uncycled", "more"].includes(type);
}

/** `ref Model/orders finished`: for logs and explanations. */
export function describeGraphCause(cause: GraphCause): string {
  switch (cause.type) {
    case "ref":
      return `ref ${nameText(cause.name)} ${cause.change}`;
    case "renamed":
      return `renamed from ${nameText(cause.from)}`;
    case "requested":
      return cause.why === undefined ? "requested" : `requested: ${cause.why}`;
    case "retry":
    case "requeue":
    case "recheck":
    case "trigger":
    case "more":
      return describeLoopCause(cause);
    default:
      return cause.type;
  }
}
