import { type KubeObject, kind } from "setpoint";

/** A Rancher project as far as this operator reads it. Rancher owns its schema. */
export interface Project extends KubeObject {
  readonly apiVersion: "management.cattle.io/v3";
  readonly kind: "Project";
  readonly spec?: { readonly displayName?: unknown; readonly clusterName?: unknown };
}

export const Project = kind<Project>("management.cattle.io/v3/Project", { plural: "projects", scope: "Namespaced" });

/** Where a project is: `c-abc123:p-xyz789`. */
export interface ProjectId {
  readonly cluster: string;
  readonly project: string;
}

/**
 * The ids of a project. Rancher keeps `p-xyz789` in the namespace `c-abc123`; older tools wrote both into the name, with
 * a colon between, which no label value may contain.
 */
export function projectId({ metadata }: Pick<Project, "metadata">): ProjectId {
  const parts = metadata.name.split(":");
  const project = parts.length > 1 ? parts.slice(1).join(":") : metadata.name;
  return { cluster: clusterOf(metadata.name) || (metadata.namespace ?? ""), project: project.replaceAll(":", "-") };
}

/** The part before the colon; empty where there is none. */
export function clusterOf(name: string): string {
  const colon = name.indexOf(":");
  return colon < 0 ? "" : name.slice(0, colon);
}

export function formatProjectId({ cluster, project }: ProjectId): string {
  return `${cluster}:${project}`;
}
