import type { Node } from "setpoint/kinds/v1";
import { SCRIPT_PREFIX } from "../pod/pod-script.js";

/** On a node, `lost` makes it fall silent, as a machine that burns down; taking it off brings the node back. */
export const NODE_ANNOTATION = `${SCRIPT_PREFIX}node`;

export const UNREACHABLE_TAINT = "node.kubernetes.io/unreachable";
export const UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable";
export const NOT_READY_TAINT = "node.kubernetes.io/not-ready";

export function isLost({ metadata }: Node): boolean {
  return metadata.annotations?.[NODE_ANNOTATION] === "lost";
}

export function isNodeReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") ?? false;
}
