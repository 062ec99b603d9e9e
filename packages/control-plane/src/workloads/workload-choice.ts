/** The controllers that can run in a control plane, in the order in which they start. */
export const WORKLOAD_NAMES = [
  "nodes",
  "scheduler",
  "pods",
  "stages",
  "replicasets",
  "replicationcontrollers",
  "deployments",
  "statefulsets",
  "daemonsets",
  "disruptionbudgets",
  "jobs",
  "cronjobs",
  "autoscalers",
  "volumes",
  "endpointslices",
  "endpoints",
] as const;

/**
 * A controller's name. Each can be switched off, so that another one, such as kube-controller-manager, does its work.
 */
export type WorkloadName = (typeof WORKLOAD_NAMES)[number];

/** All, none, or those set to true. */
export type WorkloadChoice = boolean | Partial<Record<WorkloadName, boolean>>;

/** The names that a choice selects. */
export function chosenWorkloads(choice: WorkloadChoice | undefined): readonly WorkloadName[] {
  if (choice === undefined || choice === false) return [];
  return choice === true ? WORKLOAD_NAMES : WORKLOAD_NAMES.filter((name) => choice[name] === true);
}
