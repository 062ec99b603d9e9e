import type { Node } from "setpoint/kinds/v1";
import { SCRIPT_PREFIX } from "../pod/pod-script.js";

/** `lost` on a node makes it fall silent, like a crashed machine. Removing the annotation brings it back. */
const NODE_ANNOTATION = `${SCRIPT_PREFIX}node`;

export const UNREACHABLE_TAINT = "node.kubernetes.io/unreachable";
export const UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable";
export const NOT_READY_TAINT = "node.kubernetes.io/not-ready";

export function isLost({ metadata }: Node): boolean {
  return metadata.annotations?.[NODE_ANNOTATION] === "lost";
}

/** Whether no kubelet runs on the node: it is lost, or a stage made it not ready. */
export function isSilent(node: Node): boolean {
  return isLost(node) || (readinessOf(node) ?? "True") !== "True";
}

/** The status of the node's `Ready` condition; undefined before it has one. */
export function readinessOf({ status }: Pick<Node, "status">): string | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

export function isNodeReady(node: Node): boolean {
  return readinessOf(node) === "True";
}
