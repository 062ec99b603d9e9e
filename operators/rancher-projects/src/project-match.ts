import { type Project, projectId } from "./project.js";

/** The labels and annotations that may hold a project's name, by rank. All others are ignored. */
export const NAME_KEYS = ["project.cattle.io/name", "cattle.io/projectName", "field.cattle.io/projectName"] as const;

export interface MatchOptions {
  /** Projects of this cluster take precedence. */
  readonly clusterId: string;
  /** Lets `Dev-Ops` find `Dev Ops`: label values cannot hold spaces. */
  readonly normalise: boolean;
}

export type Match =
  | { readonly type: "none" }
  | { readonly type: "one"; readonly project: Project }
  | { readonly type: "ambiguous"; readonly projects: readonly Project[] };

type Rank = (project: Project, owner: string, folded: (text: string) => string) => boolean;

/** The first rank with a matching project decides. */
const RANKS: readonly Rank[] = [
  ...NAME_KEYS.map(
    (key): Rank =>
      ({ metadata }, owner) =>
        metadata.labels?.[key] === owner,
  ),
  ({ spec }, owner, folded) => typeof spec?.displayName === "string" && folded(spec.displayName) === folded(owner),
  ({ metadata }, owner, folded) =>
    NAME_KEYS.some((key) =>
      [metadata.labels?.[key], metadata.annotations?.[key]].some(
        (value) => value !== undefined && folded(value) === folded(owner),
      ),
    ),
];

/**
 * Finds the project for an owner label: in the own cluster, or else in other clusters. Several projects in the deciding
 * rank are ambiguous. They are sorted by id, so that the result does not depend on list order.
 */
export function matchProject(projects: Iterable<Project>, owner: string, options: MatchOptions): Match {
  const all = [...projects];
  const isOwn = (project: Project): boolean => projectId(project).cluster === options.clusterId;
  const own = bestRank(all.filter(isOwn), owner, options);
  const found =
    own.length > 0
      ? own
      : bestRank(
          all.filter((project) => !isOwn(project)),
          owner,
          options,
        );
  if (found.length === 0) return { type: "none" };
  if (found.length === 1) return { type: "one", project: found[0]! };
  return { type: "ambiguous", projects: found.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)) };
}

/** The index keys of a project: all its names, folded. */
export function projectNames({ metadata, spec }: Project): readonly string[] {
  const named = NAME_KEYS.flatMap((key) => [metadata.labels?.[key], metadata.annotations?.[key]]);
  const names = [...named, spec?.displayName].filter((name): name is string => typeof name === "string" && name !== "");
  return [...new Set(names.map(foldLoosely))];
}

/** Folds at least as loosely as any match compares, so that the index never misses a match. */
export function foldLoosely(text: string): string {
  return text.toLowerCase().replace(/[\s_]+/g, "-");
}

function bestRank(projects: readonly Project[], owner: string, options: MatchOptions): Project[] {
  const folded = options.normalise ? foldLoosely : (text: string) => text.toLowerCase();
  for (const rank of RANKS) {
    const matches = projects.filter((project) => rank(project, owner, folded));
    if (matches.length > 0) return matches;
  }
  return [];
}

function sortKey({ metadata }: Project): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
