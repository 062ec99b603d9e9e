import type { KubeObject } from "setpoint";
import { isArray, isObject, type Json } from "../../../schema/json.js";

const POD_SPEC = ["hostnameOverride", "os", "overhead", "resources.claims"];
const ofPods = (path: string): readonly string[] => POD_SPEC.map((field) => `${path}.${field}`);

/** Fields that the real server checks and this one takes as they are; whoever sets one is warned. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/pods": ofPods("spec"),
  "/podtemplates": ofPods("template.spec"),
  "apps/deployments": ofPods("spec.template.spec"),
  "apps/replicasets": ofPods("spec.template.spec"),
  "apps/statefulsets": ofPods("spec.template.spec"),
  "apps/daemonsets": ofPods("spec.template.spec"),
  "batch/jobs": [...ofPods("spec.template.spec"), "spec.managedBy"],
  "batch/cronjobs": [...ofPods("spec.jobTemplate.spec.template.spec"), "spec.jobTemplate.spec.managedBy"],
  "/nodes": ["spec.externalID"],
};

/** One warning for each such field that an object has: `spec.os is not validated`. */
export function notValidated(id: string): ((object: KubeObject) => readonly string[]) | undefined {
  const paths = FIELDS[id]?.map((path) => ({ path, steps: path.split(".") }));
  if (paths === undefined) return undefined;
  return (object) =>
    paths
      .filter(({ steps }) => isGiven(object as unknown as Json, steps))
      .map(({ path }) => `${path} is not validated`);
}

function isGiven(object: Json, steps: readonly string[]): boolean {
  let value: Json | undefined = object;
  for (const step of steps) value = isObject(value) ? value[step] : undefined;
  return value !== undefined && value !== null && !(isArray(value) && value.length === 0);
}
