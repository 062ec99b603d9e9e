import type { KubeObject } from "setpoint";
import type { Storage } from "../../storage/storage.js";
import { type Admitter, refused } from "./kind-admission.js";
import { type Pod, withSpec } from "./pod.js";

const CLASSES = "scheduling.k8s.io/priorityclasses";

interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

/** The plugin Priority, for pods: sets the priority from the PriorityClass of the pod, or from the default class. */
export function podPriority(storage: Storage): Admitter {
  return (object, attributes) => {
    const pod = object as Pod;
    const { spec } = pod;
    if (attributes.operation === "UPDATE") {
      const old = (attributes.oldObject as Pod).spec;
      return withSpec(pod, {
        ...(spec.priority === undefined && old.priority !== undefined && { priority: old.priority }),
        ...(spec.preemptionPolicy === undefined && old.preemptionPolicy && { preemptionPolicy: old.preemptionPolicy }),
      });
    }
    if (attributes.operation !== "CREATE") return pod;
    const chosen = spec.priorityClassName
      ? (storage.head(CLASSES, spec.priorityClassName)?.object as PriorityClass | undefined)
      : (defaultOf(storage) ?? { value: 0, preemptionPolicy: "PreemptLowerPriority" });
    if (chosen === undefined) {
      throw refused(attributes, `no PriorityClass with name ${spec.priorityClassName} was found`);
    }
    const { value: priority = 0, preemptionPolicy = "PreemptLowerPriority" } = chosen;
    if (spec.priority !== undefined && spec.priority !== priority) {
      const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`;
      throw refused(attributes, why);
    }
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
      const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
      throw refused(attributes, why);
    }
    const name = spec.priorityClassName || ("metadata" in chosen ? chosen.metadata.name : undefined);
    return withSpec(pod, { ...(name !== undefined && { priorityClassName: name }), priority, preemptionPolicy });
  };
}

/** The plugin Priority, for PriorityClasses: allows only one default. */
export function onePriorityDefault(storage: Storage): Admitter {
  return (object, attributes) => {
    const present = (object as PriorityClass).globalDefault ? defaultOf(storage) : undefined;
    if (present === undefined) return object;
    const { name } = present.metadata;
    if (attributes.operation === "CREATE" || (attributes.operation === "UPDATE" && name !== object.metadata.name)) {
      const why = `PriorityClass ${name} is already marked as default. Only one default can exist`;
      throw refused(attributes, why);
    }
    return object;
  };
}

/** Concurrent creates may produce two defaults. The one with the lower value wins. */
function defaultOf(storage: Storage): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const { object } of storage.snapshot(CLASSES)!.entries()) {
    const each = object as PriorityClass;
    if (each.globalDefault && (found === undefined || (found.value ?? 0) > (each.value ?? 0))) found = each;
  }
  return found;
}
