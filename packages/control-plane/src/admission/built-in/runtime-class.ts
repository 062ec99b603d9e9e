import type { KubeObject } from "setpoint";
import { isSameJson } from "setpoint/kinds";
import { StatusError } from "../../api/status-error.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
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

const classOf = (storage: Storage, name: string | undefined): RuntimeClass | undefined =>
  name === undefined
    ? undefined
    : (storage.head("node.k8s.io/runtimeclasses", name)?.object as RuntimeClass | undefined);

/** The validating part of the plugin RuntimeClass: a pod may have overhead only if its class defines overhead. */
export function requireClassOfOverhead(storage: Storage, attributes: AdmissionAttributes): void {
  const { operation, object, subresource, definition } = attributes;
  if (definition.storageId !== "/pods" || operation !== "CREATE" || subresource !== "") return;
  const { overhead, runtimeClassName } = (object as Pod).spec;
  if (overhead === undefined || classOf(storage, runtimeClassName)?.overhead !== undefined) return;
  throw refused(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

/**
 * The plugin RuntimeClass: requires that the pod's RuntimeClass exists, and copies its overhead, node selector and
 * tolerations to the pod.
 */
export function runtimeClasses(storage: Storage): Admitter {
  return (object, attributes) => {
    const pod = object as Pod;
    const { runtimeClassName, overhead, nodeSelector = {}, tolerations = [] } = pod.spec;
    if (attributes.operation !== "CREATE") {
      const { overhead: given, ...spec } = pod.spec;
      return given !== undefined && Object.keys(given).length === 0 ? { ...pod, spec } : pod;
    }
    if (runtimeClassName === "") throw new StatusError(500, undefined, "resource name may not be empty");
    const found = classOf(storage, runtimeClassName);
    if (runtimeClassName !== undefined && found === undefined) {
      throw refused(attributes, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
    }
    const fixed = found?.overhead?.podFixed;
    if (overhead !== undefined && fixed !== undefined && !isSameJson(overhead, fixed)) {
      throw refused(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
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
