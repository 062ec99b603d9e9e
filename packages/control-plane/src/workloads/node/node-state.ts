import type { Node } from "setpoint/kinds/v1";
import { SCRIPT_PREFIX } from "../pod/pod-script.js";

/** On a node, `lost` makes it fall silent, as a machine that burns down; taking it off brings the node back. */
const NODE_ANNOTATION = `${SCRIPT_PREFIX}node`;

export const UNREACHABLE_TAINT = "node.kubernetes.io/unreachable";
export const UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable";
export const NOT_READY_TAINT = "node.kubernetes.io/not-ready";

export function isLost({ metadata }: Node): boolean {
  return metadata.annotations?.[NODE_ANNOTATION] === "lost";
}

/** No kubelet works on it: it is lost, or a stage says that it is not ready. */
export function isSilent(node: Node): boolean {
  return isLost(node) || (readinessOf(node) ?? "True") !== "True";
}

/** The status of its condition `Ready`; undefined before it has any. */
export function readinessOf({ status }: Pick<Node, "status">): string | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

export function isNodeReady(node: Node): boolean {
  return readinessOf(node) === "True";
}
