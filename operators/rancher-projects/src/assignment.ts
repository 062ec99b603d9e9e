import type { JsonObject, KubeObject } from "setpoint";
import { formatProjectId, type Project, type ProjectId, projectId } from "./project.js";
import { type MatchOptions, matchProject } from "./project-match.js";

/** Names the project that a namespace should be in. */
export const OWNER_LABEL = "appOwner";
/** Rancher reads both: the label holds the project, the annotation `cluster:project`. */
export const PROJECT_KEY = "field.cattle.io/projectId";
export const CLUSTER_LABEL = "field.cattle.io/clusterId";
/** Records this operator's assignment as `cluster:project`, to distinguish it from assignments by others. */
export const ASSIGNED_ANNOTATION = "rancher-projects.setpoint.dev/assigned";

export interface AssignmentOptions extends MatchOptions {
  /** What to do with a namespace in another project. `own` moves only namespaces that this operator assigned. */
  readonly move: "always" | "own" | "never";
  /** What to do when the owner label is removed. */
  readonly unlabelled: "keep" | "unassign";
  /** Namespaces to ignore: names, or patterns with `*`. */
  readonly exclude: readonly string[];
}

export const DEFAULT_OPTIONS: AssignmentOptions = {
  clusterId: "local",
  normalise: false,
  move: "own",
  unlabelled: "keep",
  exclude: ["kube-system", "cattle-*"],
};

export interface Refusal {
  readonly reason: "ProjectNotFound" | "ProjectAmbiguous" | "AssignedByOthers" | "ProjectGone";
  readonly message: string;
}

export type Decision =
  | { readonly type: "nothing" }
  | { readonly type: "refuse"; readonly refusal: Refusal }
  | { readonly type: "patch"; readonly patch: JsonObject; readonly message: string };

const NOTHING: Decision = { type: "nothing" };

/** Whether the operator manages a namespace. */
export function isOurs({ metadata }: Pick<KubeObject, "metadata">, exclude: readonly string[]): boolean {
  return metadata.deletionTimestamp === undefined && !exclude.some((pattern) => matchesPattern(metadata.name, pattern));
}

export function ownerOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return metadata.labels?.[OWNER_LABEL] ?? "";
}

/** Decides what to do with a namespace. `projects` are the candidates for its owner label. Pure. */
export function decide(
  namespace: Pick<KubeObject, "metadata">,
  projects: readonly Project[],
  options: AssignmentOptions,
): Decision {
  const owner = ownerOf(namespace);
  if (owner === "") return withoutOwner(namespace, options);
  const match = matchProject(projects, owner, options);
  if (match.type === "none") return { type: "refuse", refusal: notFound(namespace, owner) };
  if (match.type === "ambiguous") {
    const ids = match.projects.map((project) => formatProjectId(projectId(project))).join(", ");
    const message = `${OWNER_LABEL} "${owner}" names ${match.projects.length} projects: ${ids}; nothing was changed`;
    return { type: "refuse", refusal: { reason: "ProjectAmbiguous", message } };
  }
  return towards(namespace, projectId(match.project), owner, options);
}

function towards(
  namespace: Pick<KubeObject, "metadata">,
  wanted: ProjectId,
  owner: string,
  options: AssignmentOptions,
): Decision {
  const { labels = {}, annotations = {} } = namespace.metadata;
  const id = formatProjectId(wanted);
  const isRight =
    labels[PROJECT_KEY] === wanted.project &&
    labels[CLUSTER_LABEL] === wanted.cluster &&
    annotations[PROJECT_KEY] === id;
  if (isRight) return NOTHING;
  if (isElsewhere(namespace, wanted) && !mayMove(namespace, options)) {
    const current = annotations[PROJECT_KEY] || labels[PROJECT_KEY];
    const message = `the namespace is in ${current}, which somebody else set; ${OWNER_LABEL} "${owner}" means ${id}`;
    return { type: "refuse", refusal: { reason: "AssignedByOthers", message } };
  }
  const patch = {
    metadata: {
      ...precondition(namespace),
      labels: { [PROJECT_KEY]: wanted.project, [CLUSTER_LABEL]: wanted.cluster },
      annotations: { [PROJECT_KEY]: id, [ASSIGNED_ANNOTATION]: id },
    },
  };
  return { type: "patch", patch, message: `put into the project ${id} of ${OWNER_LABEL} "${owner}"` };
}

/** Makes the write fail if the cached namespace is stale, so that it never overwrites somebody else's change. */
function precondition({ metadata }: Pick<KubeObject, "metadata">): JsonObject {
  return { resourceVersion: metadata.resourceVersion };
}

/** Whether the namespace is in another project. With the right label, a missing or wrong annotation is only drift. */
function isElsewhere({ metadata }: Pick<KubeObject, "metadata">, wanted: ProjectId): boolean {
  const label = metadata.labels?.[PROJECT_KEY] ?? "";
  const annotation = metadata.annotations?.[PROJECT_KEY] ?? "";
  if (label !== "") return label !== wanted.project;
  return annotation !== "" && annotation !== formatProjectId(wanted);
}

function mayMove(namespace: Pick<KubeObject, "metadata">, { move }: AssignmentOptions): boolean {
  return move === "always" || (move === "own" && isAssignedByUs(namespace));
}

/** Whether the current assignment is still the one that this operator made. */
function isAssignedByUs({ metadata }: Pick<KubeObject, "metadata">): boolean {
  const assigned = metadata.annotations?.[ASSIGNED_ANNOTATION];
  if (assigned === undefined) return false;
  const label = metadata.labels?.[PROJECT_KEY];
  return label === undefined || assigned.endsWith(`:${label}`);
}

function withoutOwner(namespace: Pick<KubeObject, "metadata">, options: AssignmentOptions): Decision {
  const assigned = namespace.metadata.annotations?.[ASSIGNED_ANNOTATION];
  if (options.unlabelled === "keep" || assigned === undefined || !isAssignedByUs(namespace)) return NOTHING;
  const patch = {
    metadata: {
      ...precondition(namespace),
      labels: { [PROJECT_KEY]: null, [CLUSTER_LABEL]: null },
      annotations: { [PROJECT_KEY]: null, [ASSIGNED_ANNOTATION]: null },
    },
  };
  return { type: "patch", patch, message: `taken out of the project ${assigned}: the label ${OWNER_LABEL} is gone` };
}

function notFound(namespace: Pick<KubeObject, "metadata">, owner: string): Refusal {
  const assigned = namespace.metadata.annotations?.[ASSIGNED_ANNOTATION];
  if (assigned !== undefined && isAssignedByUs(namespace)) {
    const message = `no project is named "${owner}" any more; the namespace stays in ${assigned}`;
    return { reason: "ProjectGone", message };
  }
  return {
    reason: "ProjectNotFound",
    message: `no project is named "${owner}" (label ${OWNER_LABEL}); the operator looks again when projects change`,
  };
}

function matchesPattern(name: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
