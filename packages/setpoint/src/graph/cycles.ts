import type { Draft } from "./draft.js";
import { type Key, resourceKey } from "./resource.js";

/**
 * Whether a live resource reaches itself along refs. Walks up and down in turns and stops when either walk ends, so
 * that it costs at most twice the smaller walk.
 */
export function isOnCycle(draft: Draft, key: Key): boolean {
  const up = walk(draft, key, parentsOf);
  const down = walk(draft, key, childrenOf);
  for (;;) {
    for (const way of [up, down]) {
      const { value, done } = way.next();
      if (done) return false;
      if (value === key) return true;
    }
  }
}

/** The strongly connected component: all nodes both above and below this one. */
export function componentOf(draft: Draft, key: Key): ReadonlySet<Key> {
  const above = new Set(walk(draft, key, parentsOf));
  return new Set([...walk(draft, key, childrenOf)].filter((other) => above.has(other)));
}

/** Which of the keys are on a cycle among themselves (Tarjan). Linear in their edges. */
export function cyclicAmong(draft: Draft, keys: Iterable<Key>): ReadonlySet<Key> {
  const inside = new Set(keys);
  const order = new Map<Key, number>();
  const low = new Map<Key, number>();
  const open: Key[] = [];
  const isOpen = new Set<Key>();
  const cyclic = new Set<Key>();
  for (const root of inside) {
    if (order.has(root)) continue;
    const path = [enter(root)];
    while (path.length > 0) {
      const { key, parents } = path.at(-1)!;
      const { value: parent, done } = parents.next();
      if (done) {
        path.pop();
        leave(key);
        const below = path.at(-1);
        if (below) low.set(below.key, Math.min(low.get(below.key)!, low.get(key)!));
      } else if (inside.has(parent)) {
        if (parent === key) cyclic.add(key);
        if (!order.has(parent)) path.push(enter(parent));
        else if (isOpen.has(parent)) low.set(key, Math.min(low.get(key)!, order.get(parent)!));
      }
    }
  }
  return cyclic;

  function enter(key: Key): { readonly key: Key; readonly parents: Iterator<Key> } {
    order.set(key, order.size);
    low.set(key, order.get(key)!);
    open.push(key);
    isOpen.add(key);
    return { key, parents: parentsOf(draft, key) };
  }

  function leave(key: Key): void {
    if (low.get(key) !== order.get(key)) return;
    const members = open.splice(open.lastIndexOf(key));
    for (const member of members) {
      isOpen.delete(member);
      if (members.length > 1) cyclic.add(member);
    }
  }
}

/** Each key on the walk once; the start only if the walk reaches it again. */
function* walk(draft: Draft, start: Key, next: (draft: Draft, key: Key) => Iterator<Key>): IterableIterator<Key> {
  const seen = new Set<Key>();
  const stack = [next(draft, start)];
  while (stack.length > 0) {
    const { value: key, done } = stack.at(-1)!.next();
    if (done) stack.pop();
    else if (!seen.has(key)) {
      seen.add(key);
      yield key;
      if (key !== start) stack.push(next(draft, key));
    }
  }
}

function* parentsOf(draft: Draft, key: Key): IterableIterator<Key> {
  for (const ref of draft.node(key)?.meta.refs ?? []) {
    const parent = resourceKey(ref);
    if (draft.node(parent)) yield parent;
  }
}

function* childrenOf(draft: Draft, key: Key): IterableIterator<Key> {
  for (const id of draft.childrenOf(key).keys()) {
    if (draft.node(id)?.meta.deletedOn === undefined) yield id;
  }
}
