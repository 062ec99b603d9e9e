import type { KubeObject } from "setpoint";
import { isArray, isObject, type Json } from "../../../schema/json.js";

const POD_SPEC = [
  "hostUsers",
  "resourceClaims",
  "containers[].resizePolicy",
  "containers[].restartPolicyRules",
  "containers[].env[].valueFrom.fileKeyRef",
  "initContainers[].resizePolicy",
  "initContainers[].restartPolicyRules",
  "initContainers[].env[].valueFrom.fileKeyRef",
  "volumes[].projected.sources[].podCertificate",
];
const ofPods = (path: string): readonly string[] => POD_SPEC.map((field) => `${path}.${field}`);

/** Fields that the real server checks and this one takes as they are; whoever sets one is warned. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/pods": ofPods("spec"),
  "/podtemplates": ofPods("template.spec"),
  "/replicationcontrollers": ofPods("spec.template.spec"),
  "apps/deployments": ofPods("spec.template.spec"),
  "apps/replicasets": ofPods("spec.template.spec"),
  "apps/statefulsets": ofPods("spec.template.spec"),
  "apps/daemonsets": ofPods("spec.template.spec"),
  "batch/jobs": ofPods("spec.template.spec"),
  "batch/cronjobs": ofPods("spec.jobTemplate.spec.template.spec"),
};

/** One warning for each such field that an object has: `spec.containers[0].resizePolicy is not validated`. */
export function notValidated(id: string): ((object: KubeObject) => readonly string[]) | undefined {
  const paths = FIELDS[id]?.map((path) => path.split("."));
  if (paths === undefined) return undefined;
  return (object) =>
    paths.flatMap((steps) => placesOf(object as unknown as Json, steps, "")).map((path) => `${path} is not validated`);
}

/** Where a field stands; `name[]` is every item of a list. */
function placesOf(value: Json | undefined, [step, ...rest]: readonly string[], path: string): readonly string[] {
  if (step === undefined) {
    const isGiven = value !== undefined && value !== null && !(isArray(value) && value.length === 0);
    return isGiven ? [path] : [];
  }
  if (!isObject(value)) return [];
  const name = step.replace("[]", "");
  const at = path === "" ? name : `${path}.${name}`;
  const field = value[name];
  if (name === step) return placesOf(field, rest, at);
  return isArray(field) ? field.flatMap((item, index) => placesOf(item, rest, `${at}[${index}]`)) : [];
}
