import { type Key, resourceKey } from "./resource.js";
import type { Node, State } from "./state.js";

// Computes relations of resources from their refs alone, to check the reducer's counts and indexes.

/** Whether one node is an ancestor of another, along refs; cyclic nodes are not scheduled. */
export function isAbove({ nodes }: State, above: Key, below: Key): boolean {
  const target = nodes.get(above);
  const start = nodes.get(below);
  if (!target || !start) return false;
  const targetKey = resourceKey(target.meta.name);
  const seen = new Set(start.meta.refs.map(resourceKey));
  for (const key of seen) {
    if (key === targetKey) return true;
    const node = nodes.get(key);
    if (node && node.status !== "cyclic") for (const ref of node.meta.refs) seen.add(resourceKey(ref));
  }
  return false;
}

/** The number of nodes that it refers to, including deleted ones, that are not at rest. */
export function unsettledRefsOf({ nodes }: State, node: Node): number {
  const keys = new Set(node.meta.refs.map(resourceKey));
  const isUnsettled = ({ meta, status }: Node) =>
    keys.has(resourceKey(meta.name)) && status !== "idle" && status !== "cyclic";
  return [...nodes.values()].filter(isUnsettled).length;
}

/** The resources that reach themselves along refs. */
export function cyclicOf({ nodes }: State): ReadonlySet<Key> {
  const reachesItself = ({ id, meta }: Node): boolean => {
    const seen = new Set(meta.refs.map(resourceKey));
    for (const key of seen) for (const ref of nodes.get(key)?.meta.refs ?? []) seen.add(resourceKey(ref));
    return seen.has(id);
  };
  const live = [...nodes.values()].filter(({ meta }) => meta.deletedOn === undefined);
  return new Set(live.filter(reachesItself).map(({ id }) => id));
}
