import type { KubeObject } from "setpoint";
import type { Admitter } from "./kind-admission.js";

interface Node extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
}

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** The plugin TaintNodesByCondition: taints new nodes, so that no pod is scheduled on them before they are ready. */
export const taintNewNodes: Admitter = (object, { operation }) => {
  if (operation !== "CREATE") return object;
  const node = object as Node;
  const { taints = [] } = node.spec ?? {};
  const isTainted = taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect);
  return isTainted ? node : ({ ...node, spec: { ...node.spec, taints: [...taints, NOT_READY] } } as KubeObject);
};
