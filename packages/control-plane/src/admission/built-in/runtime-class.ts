import type { KubeObject } from "setpoint";
import { StatusError } from "../../registry/status-error.js";
import { deepEqual } from "../../schema/json.js";
import type { Storage } from "../../storage/storage.js";
import { type Admitter, refused } from "./kind-admission.js";
import { type Pod, type Toleration, withSpec } from "./pod.js";

interface RuntimeClass extends KubeObject {
  readonly overhead?: { readonly podFixed?: Readonly<Record<string, string>> };
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
  };
}

/** The plugin RuntimeClass: a pod's runtime exists, and brings its overhead and its nodes with it. */
export function runtimeClasses(storage: Storage): Admitter {
  return (object, attributes) => {
    const pod = object as Pod;
    const { runtimeClassName, overhead, nodeSelector = {}, tolerations = [] } = pod.spec;
    if (attributes.operation !== "CREATE") return pod;
    if (runtimeClassName === "") throw new StatusError(500, undefined, "resource name may not be empty");
    const found =
      runtimeClassName === undefined
        ? undefined
        : (storage.head("node.k8s.io/runtimeclasses", runtimeClassName)?.object as RuntimeClass | undefined);
    if (runtimeClassName !== undefined && found === undefined) {
      throw refused(attributes, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
    }
    const fixed = found?.overhead?.podFixed;
    if (overhead !== undefined && !deepEqual(overhead, fixed)) {
      const why =
        found === undefined
          ? "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
          : "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
      throw refused(attributes, why);
    }
    if (found === undefined) return pod;
    const nodes = found.scheduling?.nodeSelector ?? {};
    for (const [key, value] of Object.entries(nodes)) {
      if (Object.hasOwn(nodeSelector, key) && nodeSelector[key] !== value) {
        const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${nodeSelector[key]}`;
        throw refused(attributes, why);
      }
    }
    return withSpec(pod, {
      ...(fixed && { overhead: fixed }),
      ...(found.scheduling?.nodeSelector && { nodeSelector: { ...nodeSelector, ...nodes } }),
      ...(found.scheduling?.tolerations && { tolerations: [...tolerations, ...found.scheduling.tolerations] }),
    });
  };
}
