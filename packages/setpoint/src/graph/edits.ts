import { componentOf, cyclicAmong, isOnCycle } from "./cycles.js";
import { type Draft, originsOf, phaseOf } from "./draft.js";
import { type Key, nameText, type ResourceName, resourceKey, sortedRefs } from "./resource.js";
import { addCauses, cancelRun, inputsOf, tellChildren } from "./scheduling.js";
import type { Edit, EditRefusal, Node } from "./state.js";

type EditOf<Type extends Edit["type"]> = Extract<Edit, { type: Type }>;

/** Makes one edit. Gives the ids of the nodes that it is about, or why it cannot be made. `by`: the run that asks. */
export function applyEdit(draft: Draft, edit: Edit, by: number | undefined): readonly Key[] | EditRefusal {
  switch (edit.type) {
    case "create":
      return create(draft, edit);
    case "rename":
      return rename(draft, edit);
    case "reconcile":
      return reconcile(draft, edit, by);
  }
  const node = draft.node(resourceKey(edit.name));
  if (!node) return notFound(edit.name);
  if ("ifVersion" in edit && edit.ifVersion !== undefined && edit.ifVersion !== node.meta.version) {
    const message = `${nameText(edit.name)} has version ${node.meta.version}, not ${edit.ifVersion}`;
    return { code: "GRAPH_CONFLICT", message };
  }
  if (edit.type === "update") return update(draft, edit, node, by);
  if (edit.type === "delete") return remove(draft, node, by);
  return cancel(draft, node);
}

function notFound(name: ResourceName): EditRefusal {
  return { code: "GRAPH_NOT_FOUND", message: `there is no resource ${nameText(name)}` };
}

function create(draft: Draft, edit: EditOf<"create">): readonly Key[] | EditRefusal {
  const id = resourceKey(edit.name);
  if (draft.node(id)) return { code: "GRAPH_NAME_TAKEN", message: `${nameText(edit.name)} exists already` };
  const deleted = draft.next.tombstones.get(id)?.at(-1);
  const former = deleted === undefined ? undefined : draft.node(deleted);
  const { name, refs, paths, tags, hidden } = edit;
  const meta = {
    name,
    refs,
    paths,
    tags,
    hidden,
    ...(edit.owner ? { owner: edit.owner } : {}),
    version: former?.meta.version ?? 0,
    specVersion: (former?.meta.specVersion ?? 0) + 1,
    stateVersion: 1,
    createdOn: draft.now,
    specUpdatedOn: draft.now,
    stateUpdatedOn: draft.now,
  };
  let revived: Partial<Node> = {};
  if (former) {
    // The new resource takes over what the deleted one left in the world.
    const stopped = cancelRun(draft, former, "stop", `${nameText(name)} was created again`);
    removeTombstone(draft, stopped);
    revived = { began: true, ...(stopped.run === undefined ? {} : { run: stopped.run }) };
    moveRun(draft, stopped, id);
    keepReading(draft, stopped, refs.map(resourceKey));
  }
  place(draft, {
    ...FRESH,
    ...revived,
    id,
    meta,
    spec: edit.spec,
    specHash: signatureOf(edit.specHash, refs),
    weights: edit.weights,
    status: "pending",
    causes: [{ type: "created" }],
  });
  checkCycles(draft, id, []);
  return [id];
}

const FRESH = { attempt: 0, unsettledRefs: 0, awaits: 0, inLine: false, isParked: false } as const;

function update(draft: Draft, edit: EditOf<"update">, node: Node, by: number | undefined): readonly Key[] {
  const { refs = node.meta.refs, owner, paths, tags, spec = node.spec, weights = node.weights } = edit.change;
  const specHash = signatureOf(edit.change.specHash ?? node.specHash.split("\n")[0]!, refs);
  const isSpecChange = specHash !== node.specHash;
  const meta = {
    ...node.meta,
    ...(owner ? { owner } : {}),
    ...(paths ? { paths } : {}),
    ...(tags ? { tags } : {}),
    refs,
    ...(isSpecChange ? { specVersion: node.meta.specVersion + 1, specUpdatedOn: draft.now } : {}),
  };
  if (!isSpecChange) {
    const shown = ({ owner, paths, tags }: Node["meta"]) => JSON.stringify([owner, paths, tags]);
    if (shown(meta) === shown(node.meta)) return [node.id];
    draft.store(node.id);
    draft.patch(node, { meta });
    return [node.id];
  }
  draft.store(node.id);
  const change = { meta, spec, specHash, weights };
  const hasNewRefs =
    refs.length !== node.meta.refs.length ||
    refs.some((ref, at) => resourceKey(ref) !== resourceKey(node.meta.refs[at]!));
  const cycle = node.status === "cyclic" && hasNewRefs ? componentOf(draft, node.id) : [];
  let updated: Node;
  if (hasNewRefs) {
    keepReading(draft, node, refs.map(resourceKey));
    draft.unlink(node);
    updated = draft.link({ ...node, ...change });
    draft.set(updated);
  } else updated = draft.patch(node, change);
  if (by !== undefined && node.run === by) updateOwnRun(draft, updated, by);
  else
    addCauses(draft, cancelRun(draft, updated, "again", `${nameText(node.meta.name)} was updated`), [
      { type: "updated" },
    ]);
  if (hasNewRefs) checkCycles(draft, node.id, cycle);
  return [node.id];
}

/** Equal for equal spec and refs. */
function signatureOf(specHash: string, refs: readonly ResourceName[]): string {
  return [specHash, ...refs.map(resourceKey)].join("\n");
}

/** A run may update its own resource: its work then counts for the new spec. */
function updateOwnRun(draft: Draft, node: Node, by: number): void {
  const run = draft.run(by)!;
  const reads = [...new Set([...run.reads, ...node.meta.refs.map(resourceKey)])];
  draft.setRun({ ...run, specHash: node.specHash, inputs: inputsOf(draft, node), reads });
  // It now refers to a node that runs or is about to: the two must not run at the same time.
  if (node.unsettledRefs > 0) cancelRun(draft, node, "again", "it refers to a resource that is not at rest");
}

/** A run in flight still reads what its resource no longer refers to. */
function keepReading(draft: Draft, node: Node, refs: readonly Key[]): void {
  const run = node.run === undefined ? undefined : draft.run(node.run);
  for (const key of run?.reads ?? []) {
    const readers = draft.next.readers.get(key) ?? [];
    if (!refs.includes(key) && !readers.includes(run!.id)) draft.setEntry("readers", key, [...readers, run!.id]);
  }
}

function remove(draft: Draft, node: Node, by: number | undefined): readonly Key[] {
  const cycle = node.status === "cyclic" ? componentOf(draft, node.id) : [];
  const isSelf = by !== undefined && node.run === by;
  const hasLeftTraces = node.trace !== undefined || node.began === true;
  takeOut(draft, cancelRun(draft, node, "stop", `${nameText(node.meta.name)} was deleted`));
  let ids = [node.id];
  if (isSelf || !hasLeftTraces) {
    moveRun(draft, node, undefined);
    keepReading(draft, node, []);
  } else {
    ids = placesOf(node).map((name, at) => bury(draft, node, name, at === 0));
    moveRun(draft, node, ids[0]);
    draft.effects.push({ type: "moved", moves: [{ from: node.id, to: ids[0]! }] });
  }
  tellChildren(draft, node, "deleted");
  recheckCycles(draft, cycle);
  return ids;
}

/** Sets a deleted resource aside until everything under this name is removed. */
function bury(draft: Draft, node: Node, name: ResourceName, hasRun: boolean): Key {
  const id = `~${draft.next.nextTombstone++}/${resourceKey(name)}`;
  const { renamedFrom: _, ...meta } = node.meta;
  const { origins: __, run, due: ___, retryDue: ____, failure: _____, ...rest } = node;
  place(draft, {
    ...rest,
    id,
    meta: { ...meta, name, deletedOn: draft.now, specVersion: meta.specVersion + 1, specUpdatedOn: draft.now },
    status: "pending",
    causes: [{ type: "deleted" }],
    attempt: 0,
    awaits: 0,
    inLine: false,
    ...(hasRun && run !== undefined ? { run } : {}),
  });
  return id;
}

function rename(draft: Draft, { moves }: EditOf<"rename">): readonly Key[] | EditRefusal {
  const leaving = new Set(moves.map(({ from }) => resourceKey(from)));
  const arriving = new Set(moves.map(({ to }) => resourceKey(to)));
  if (leaving.size < moves.length || arriving.size < moves.length) {
    return { code: "GRAPH_NAME_TAKEN", message: "two renames have the same resource or the same new name" };
  }
  for (const { from, to } of moves) {
    if (!draft.node(resourceKey(from))) return notFound(from);
    if (from.kind !== to.kind)
      return {
        code: "GRAPH_NAME_INVALID",
        message: `${nameText(from)} cannot become ${nameText(to)}: that is another kind`,
      };
    const isTaken = draft.node(resourceKey(to)) !== undefined && !leaving.has(resourceKey(to));
    if (isTaken) return { code: "GRAPH_NAME_TAKEN", message: `${nameText(to)} exists already` };
  }
  const moved = moves.map(({ from, to }) => ({ node: draft.node(resourceKey(from))!, to }));
  const cycle = moved.flatMap(({ node }) => (node.status === "cyclic" ? [...componentOf(draft, node.id)] : []));
  for (const { node } of moved) takeOut(draft, node);
  const placed = moved.map(({ node, to }) => {
    const hasLeftTraces = node.trace !== undefined || node.began === true;
    const places = hasLeftTraces ? placesOf(node) : [];
    const from = places.find((place) => nameText(place) !== nameText(to));
    // The new name stays among the origins if the resource was there before: a later rename or delete has to look there
    // too.
    const origins = from ? places.filter((place) => place !== from) : [];
    const { renamedFrom: _, ...meta } = node.meta;
    const { origins: __, ...rest } = node;
    const id = resourceKey(to);
    moveRun(draft, node, id);
    const renamed: Node = {
      ...rest,
      ...(origins.length > 0 ? { origins } : {}),
      id,
      meta: {
        ...meta,
        name: to,
        ...(from ? { renamedFrom: from } : {}),
        specVersion: meta.specVersion + 1,
        specUpdatedOn: draft.now,
      },
      status: "pending",
      causes: [...node.causes.filter(({ type }) => type !== "renamed"), { type: "renamed", from: node.meta.name }],
      awaits: 0,
      inLine: false,
    };
    place(draft, renamed);
    if (node.run !== undefined) cancelRun(draft, draft.node(id)!, "again", `${nameText(node.meta.name)} was renamed`);
    return id;
  });
  draft.effects.push({ type: "moved", moves: moved.map(({ node }, at) => ({ from: node.id, to: placed[at]! })) });
  for (const id of placed) wakeRing(draft, id);
  for (const { node } of moved) tellChildren(draft, node, "deleted");
  recheckCycles(draft, cycle);
  for (const id of placed) checkCycles(draft, id, []);
  return placed;
}

/** A rename may close a ring, and then any member may have to step aside. */
function wakeRing(draft: Draft, start: Key): void {
  const seen = new Set<Key>();
  for (let id = draft.next.moving.get(start); id !== undefined && !seen.has(id); id = draft.next.moving.get(id)) {
    draft.operations++;
    seen.add(id);
    draft.todo.push(id);
  }
}

/** The names under which a resource may have things, each once. */
function placesOf({ meta, origins = [] }: Node): readonly ResourceName[] {
  return meta.renamedFrom ? sortedRefs([...origins, meta.renamedFrom]) : [meta.name];
}

function reconcile(
  draft: Draft,
  { name, why }: EditOf<"reconcile">,
  by: number | undefined,
): readonly Key[] | EditRefusal {
  const key = resourceKey(name);
  const node = draft.node(key) ?? draft.node(draft.next.tombstones.get(key)?.at(-1) ?? "");
  if (!node) return notFound(name);
  const isSelf = by !== undefined && node.run === by;
  const asked = isSelf ? node : cancelRun(draft, node, "again", "another run was asked for");
  addCauses(draft, draft.patch(asked, { requested: true }), [
    { type: "requested", ...(why === undefined ? {} : { why }) },
  ]);
  draft.store(node.id);
  return [node.id];
}

/** A resource whose run was called off: nothing that would have led to one does so any more. */
export function calledOff({ due: _, requested: __, ...rest }: Node): Node {
  return { ...rest, causes: [], failure: { code: "GRAPH_RUN_CANCELLED", message: "the run was cancelled" } };
}

/** A rename is not cancelled: things would stay under a name that others may take. */
function cancel(draft: Draft, node: Node): readonly Key[] {
  if (phaseOf(node) !== "reconcile") return [node.id];
  if (node.run !== undefined) cancelRun(draft, draft.patch(node, { causes: [] }), "stop", "it was cancelled");
  else if (node.status === "pending" && node.causes.length > 0) {
    draft.set(calledOff(node));
    draft.store(node.id);
    draft.todo.push(node.id);
    tellChildren(draft, node, "finished");
  }
  return [node.id];
}

/** Inserts a node under its id, with its edges, and into the indexes of deleted and moving ones if it belongs there. */
export function place(draft: Draft, node: Node, isStored = false): void {
  const key = resourceKey(node.meta.name);
  const linked = draft.link(node);
  if (node.meta.deletedOn !== undefined) {
    draft.setEntry("tombstones", key, [...(draft.next.tombstones.get(key) ?? []), node.id]);
  } else for (const origin of originsOf(node)) draft.setEntry("moving", origin, node.id);
  draft.set(linked);
  if (!isStored) draft.store(node.id);
  draft.todo.push(node.id);
}

function takeOut(draft: Draft, node: Node): void {
  for (const origin of originsOf(node)) {
    if (draft.next.moving.get(origin) === node.id) draft.setEntry("moving", origin, undefined);
  }
  draft.unlink(node);
  draft.drop(node);
  draft.store(node.id);
}

/** Removes a deleted resource for good. */
export function removeTombstone(draft: Draft, node: Node): void {
  const key = resourceKey(node.meta.name);
  const left = (draft.next.tombstones.get(key) ?? []).filter((id) => id !== node.id);
  draft.setEntry("tombstones", key, left.length > 0 ? left : undefined);
  takeOut(draft, node);
  draft.todo.push(key);
}

function moveRun(draft: Draft, { run }: Node, node: Key | undefined): void {
  const moved = run === undefined ? undefined : draft.run(run);
  if (moved) draft.setRun({ ...moved, node });
}

/**
 * Marks a node as part of a cycle. It leaves the schedule, and counts as at rest for its dependents. A pending rename
 * would never happen and would block its old name: what is there is removed instead.
 */
export function setCyclic(draft: Draft, node: Node): void {
  if (node.status === "cyclic") return;
  const stopped = cancelRun(draft, node, "stop", `${nameText(node.meta.name)} is part of a cycle`);
  const out = { status: "cyclic", causes: [], inLine: false, isParked: false } as const;
  if (stopped.meta.renamedFrom) {
    const places = placesOf(stopped);
    takeOut(draft, stopped);
    const { renamedFrom: _, ...meta } = stopped.meta;
    const { origins: __, trace: ___, began: ____, state: _____, due: ______, ...rest } = stopped;
    place(draft, { ...rest, ...out, meta });
    for (const name of places) bury(draft, stopped, name, false);
  } else draft.patch(stopped, out);
  tellChildren(draft, node, "finished");
}

/** After a change of a node's refs: checks whether it closes a cycle, and which nodes of its former cycle are free. */
function checkCycles(draft: Draft, id: Key, former: Iterable<Key>): void {
  recheckCycles(draft, former);
  if (!isOnCycle(draft, id)) return;
  for (const key of componentOf(draft, id)) setCyclic(draft, draft.node(key)!);
}

function recheckCycles(draft: Draft, members: Iterable<Key>): void {
  const present = [...members].filter((key) => draft.node(key)?.status === "cyclic");
  const cyclic = cyclicAmong(draft, present);
  for (const key of present) {
    const node = draft.node(key)!;
    if (cyclic.has(key)) continue;
    addCauses(draft, draft.patch(node, { status: "pending" }), [{ type: "uncycled" }]);
    // For its dependents it has failed until now. It may settle without a run, which would not tell them.
    tellChildren(draft, node, "finished");
  }
}
