import { type KubeObject, kind } from "setpoint";

/** The fields of a Rancher project that this operator reads. Rancher owns the schema. */
export interface Project extends KubeObject {
  readonly apiVersion: "management.cattle.io/v3";
  readonly kind: "Project";
  readonly spec?: { readonly displayName?: unknown; readonly clusterName?: unknown };
}

export const Project = kind<Project>("management.cattle.io/v3/Project", { plural: "projects", scope: "Namespaced" });

/** A cluster and a project: `c-abc123:p-xyz789`. */
export interface ProjectId {
  readonly cluster: string;
  readonly project: string;
}

/**
 * The ids of a project. Rancher stores `p-xyz789` in the namespace `c-abc123`. Older tools wrote `c-abc123:p-xyz789`
 * into the name. Colons are replaced, because label values cannot contain them.
 */
export function projectId({ metadata }: Pick<Project, "metadata">): ProjectId {
  const parts = metadata.name.split(":");
  const project = parts.length > 1 ? parts.slice(1).join(":") : metadata.name;
  return { cluster: clusterOf(metadata.name) || (metadata.namespace ?? ""), project: project.replaceAll(":", "-") };
}

/** The part before the colon; empty without a colon. */
export function clusterOf(name: string): string {
  const colon = name.indexOf(":");
  return colon < 0 ? "" : name.slice(0, colon);
}

export function formatProjectId({ cluster, project }: ProjectId): string {
  return `${cluster}:${project}`;
}
