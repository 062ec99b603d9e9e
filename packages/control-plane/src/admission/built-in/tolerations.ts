import type { Admitter } from "./kind-admission.js";
import { type Pod, type Toleration, withSpec } from "./pod.js";

const PATIENCE_SECONDS = 300;
const TROUBLES = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/**
 * The plugin DefaultTolerationSeconds: a pod stays five minutes on a node that is not ready or unreachable, unless it
 * has its own tolerations for that.
 */
export const defaultTolerations: Admitter = (object, { operation }) => {
  if (operation !== "CREATE" && operation !== "UPDATE") return object;
  const pod = object as Pod;
  const { tolerations = [] } = pod.spec;
  const missing = TROUBLES.filter((key) => !tolerations.some((toleration) => tolerates(toleration, key)));
  if (missing.length === 0) return pod;
  const added = missing.map((key) => ({
    key,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: PATIENCE_SECONDS,
  }));
  return withSpec(pod, { tolerations: [...tolerations, ...added] });
};

function tolerates({ key = "", effect = "" }: Toleration, trouble: string): boolean {
  return (key === "" || key === trouble) && (effect === "" || effect === "NoExecute");
}
