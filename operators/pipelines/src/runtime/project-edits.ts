import type { BatchEditor, GraphResource, ResourceName } from "setpoint/graph";
import { resourceKey } from "setpoint/graph";
import type { DeclaredResource, Project } from "../project/project.js";

/** Owner of the resources that files declare. Only resources with this owner follow the files. */
export const PROJECT_OWNER: ResourceName = { kind: "ProjectParser", name: "parser" };

/** The changes that bring the graph to what the files declare. */
export interface ProjectEdits {
  readonly creates: readonly DeclaredResource[];
  readonly updates: readonly DeclaredResource[];
  readonly renames: readonly { readonly from: ResourceName; readonly to: ResourceName }[];
  readonly deletes: readonly ResourceName[];
}

/**
 * Compares the files with the graph. A resource that is gone and a new one with the same content are one renamed
 * resource. Broken resources are neither updated nor deleted.
 */
export function projectEdits(project: Project, existing: readonly GraphResource[]): ProjectEdits {
  const own = existing.filter(({ meta }) => meta.owner && resourceKey(meta.owner) === resourceKey(PROJECT_OWNER));
  const known = new Map(own.map((resource) => [resourceKey(resource.meta.name), resource]));
  const declared = new Map(project.resources.map((resource) => [resourceKey(resource.name), resource]));
  const broken = new Set(project.broken.map(({ name }) => resourceKey(name)));

  const renames = [...caseChanges(known, project.resources), ...movesOf(own, project.resources, broken)];
  const moved = new Set(renames.map(({ from }) => resourceKey(from)));
  const arrived = new Set(renames.map(({ to }) => resourceKey(to)));
  const isKnown = ({ name }: DeclaredResource): boolean =>
    known.has(resourceKey(name)) && !moved.has(resourceKey(name));
  const left = own
    .map(({ meta }) => meta.name)
    .filter((name) => !moved.has(resourceKey(name)) && !broken.has(resourceKey(name)));
  return {
    creates: project.resources.filter((one) => !isKnown(one) && !arrived.has(resourceKey(one.name))),
    updates: project.resources.filter((one) => isKnown(one) || arrived.has(resourceKey(one.name))),
    renames,
    deletes: left.filter((name) => !declared.has(resourceKey(name))),
  };
}

/** Applies the edits. An update that changes nothing causes no run. */
export function applyEdits(edit: BatchEditor, { creates, updates, renames, deletes }: ProjectEdits): void {
  for (const name of deletes) edit.delete(name);
  for (const { from, to } of renames) edit.updateName(from, to);
  for (const { name, spec, refs, paths, tags } of creates) {
    edit.create({ name, spec, refs, paths, tags, owner: PROJECT_OWNER });
  }
  for (const { name, spec, refs, paths, tags } of updates) {
    edit.updateMeta(name, { refs, paths, tags });
    edit.updateSpec(name, spec);
  }
}

function caseChanges(
  known: ReadonlyMap<string, GraphResource>,
  resources: readonly DeclaredResource[],
): ProjectEdits["renames"] {
  return resources.flatMap(({ name }) => {
    const from = known.get(resourceKey(name))?.meta.name;
    return from && from.name !== name.name ? [{ from, to: name }] : [];
  });
}

type Move = ProjectEdits["renames"][number];

/**
 * A key that a resource keeps when it is renamed: its meaning, or the text of a file that was moved without an edit.
 */
type Likeness = (name: ResourceName, spec: unknown) => string | undefined;

/**
 * Pairs resources that lost their name with new names, by kind and content. If several are alike, it pairs them in the
 * order of their names. The new name must be free, or become free by another move.
 */
function movesOf(
  own: readonly GraphResource[],
  resources: readonly DeclaredResource[],
  broken: ReadonlySet<string>,
): readonly Move[] {
  const taken = new Set(own.map(({ meta }) => resourceKey(meta.name)));
  let moves: readonly Move[] = [];
  for (const likeness of [meaningOf, textOf]) {
    const from = new Set(moves.map((move) => resourceKey(move.from)));
    const to = new Set(moves.map((move) => resourceKey(move.to)));
    const stays = ({ meta }: GraphResource): boolean =>
      broken.has(resourceKey(meta.name)) || from.has(resourceKey(meta.name));
    const left = own.filter((one) => !stays(one));
    const come = resources.filter(({ name }) => !to.has(resourceKey(name)));
    moves = [...moves, ...pairs(left, come, likeness)];
  }
  for (let count = -1; count !== moves.length; ) {
    count = moves.length;
    const leaving = new Set(moves.map(({ from }) => resourceKey(from)));
    moves = moves.filter(({ to }) => !taken.has(resourceKey(to)) || leaving.has(resourceKey(to)));
  }
  return moves;
}

/** Pairs of a resource and a declaration that are alike. Skips names whose content is the same as before. */
function pairs(
  own: readonly GraphResource[],
  resources: readonly DeclaredResource[],
  likeness: Likeness,
): readonly Move[] {
  const before = new Map(own.map(({ meta, spec }) => [resourceKey(meta.name), likeness(meta.name, spec)]));
  const after = new Map(resources.map(({ name, spec }) => [resourceKey(name), likeness(name, spec)]));
  const alike = new Map<string, ResourceName[]>();
  for (const { name } of [...resources].sort(byName)) {
    const content = after.get(resourceKey(name));
    if (content === undefined || before.get(resourceKey(name)) === content) continue;
    alike.set(content, [...(alike.get(content) ?? []), name]);
  }
  return own.flatMap(({ meta: { name } }) => {
    const content = before.get(resourceKey(name));
    if (content === undefined || after.get(resourceKey(name)) === content) return [];
    const to = alike.get(content)?.shift();
    return to ? [{ from: name, to }] : [];
  });
}

function byName(left: DeclaredResource, right: DeclaredResource): number {
  return resourceKey(left.name) < resourceKey(right.name) ? -1 : 1;
}

interface Hashes {
  readonly specHash?: string;
  readonly testHash?: string;
  readonly textHash?: string;
}

/** The content of a resource, without its name and the path of its file. */
function meaningOf(name: ResourceName, spec: unknown): string {
  const { specHash, testHash } = (spec ?? {}) as Hashes;
  if (specHash !== undefined) return JSON.stringify([name.kind, specHash, testHash]);
  return JSON.stringify([name.kind, spec], (key, value: unknown) =>
    key === "path" || key === "origin" ? undefined : value,
  );
}

/**
 * The hash of the text. A file that was moved without an edit may still name its old table, so its meaning may differ.
 */
function textOf(name: ResourceName, spec: unknown): string | undefined {
  const { textHash } = (spec ?? {}) as Hashes;
  return textHash === undefined ? undefined : JSON.stringify([name.kind, textHash]);
}
