import { type Key, type ResourceName, resourceKey, sortedRefs } from "./resource.js";
import type { Edit, State } from "./state.js";

/** The spec of a test resource: its value, and whether its runs fail. Its output only depends on `value % 3`. */
export interface TestSpec {
  readonly value: number;
  readonly fails: boolean;
}

/** One step of a script: the operation, and three numbers for its choices. */
export type ScriptStep = readonly [operation: number, first: number, second: number, third: number];

const NAMES: readonly ResourceName[] = [0, 1, 2, 3, 4, 5, 6, 7].map((at) => ({
  kind: at % 2 === 0 ? "Always" : "Changed",
  name: `r${at >> 1}`,
}));

/** The spec in a step. */
export function specOf([, , second, third]: ScriptStep): TestSpec {
  return { value: second % 5, fails: third % 11 === 0 };
}

export function updated(name: ResourceName, refs: readonly ResourceName[], spec: TestSpec): Edit {
  return { type: "update", name, change: { refs: sortedRefs(refs), spec, specHash: JSON.stringify(spec) } };
}

function created(
  name: ResourceName,
  refs: readonly ResourceName[],
  spec: TestSpec,
  weights: Readonly<Record<string, number>>,
): Edit {
  const meta = { refs: sortedRefs(refs), paths: [], tags: [], hidden: false };
  return { type: "create", name, ...meta, spec, specHash: JSON.stringify(spec), weights };
}

/** The edits of a step, made at once; undefined for a step that is no edit. */
export function scriptedEdits(step: ScriptStep, state: State): readonly Edit[] | undefined {
  const [operation, first, second, third] = step;
  const name = NAMES[first % NAMES.length]!;
  const other = NAMES[second % NAMES.length]!;
  const live = state.nodes.get(resourceKey(name));
  const spec = specOf(step);
  switch (operation % 16) {
    case 0:
    case 1:
    case 2: {
      const refs = refsOf(step);
      return [live ? updated(name, refs, spec) : created(name, refs, spec, { memory: third % 7, slots: 1 })];
    }
    case 3:
      return live ? [updated(name, live.meta.refs, spec)] : [];
    case 4:
      return [{ type: "delete", name }];
    case 5:
      return [{ type: "rename", moves: [{ from: name, to: { ...other, kind: name.kind } }] }];
    case 6: {
      const to = { ...other, kind: name.kind };
      const last = { kind: name.kind, name: `r${third % 4}` };
      const ring = [resourceKey(name), resourceKey(to)].includes(resourceKey(last)) ? [name, to] : [name, to, last];
      return [{ type: "rename", moves: ring.map((from, at) => ({ from, to: ring[(at + 1) % ring.length]! })) }];
    }
    case 7:
      return [{ type: third % 3 === 0 ? "cancel" : "reconcile", name }];
    case 8:
      return live ? [updated(name, live.meta.refs, spec), ...renamedChild(state, live.id)] : [];
    default:
      return undefined;
  }
}

/** Most refs go to earlier names: with refs to any name, a third of all resources would be cyclic and never run. */
function refsOf([, first, second, third]: ScriptStep): readonly ResourceName[] {
  const mayCycle = (first >> 3) % 8 === 7;
  const isRef = (at: number) => (third >> at) & 1 && (mayCycle ? (second >> (at % 3)) & 1 : at < first % NAMES.length);
  return NAMES.filter((_, at) => isRef(at));
}

/** Renames a resource that refers to this one, to a free name. */
function renamedChild({ nodes }: State, id: Key): readonly Edit[] {
  const child = [...nodes.values()].find(
    (node) => node.id !== id && node.meta.refs.some((ref) => resourceKey(ref) === id),
  );
  const free = NAMES.find((name) => name.kind === child?.meta.name.kind && !nodes.has(resourceKey(name)));
  if (!child || !free || child.meta.deletedOn !== undefined) return [];
  return [{ type: "rename", moves: [{ from: child.meta.name, to: free }] }];
}

/** Edits of up to three resources whose order does not matter. */
export function independentEdits(step: ScriptStep, { nodes }: State): readonly Edit[] {
  const [, first, second, third] = step;
  const live = NAMES.filter((name) => nodes.has(resourceKey(name)));
  const picked = new Set([first, second, third].flatMap((number) => live[number % live.length] ?? []));
  return [...picked].map((name, at): Edit => {
    const { id, meta } = nodes.get(resourceKey(name))!;
    // Removing refs closes no cycle.
    const fewer = meta.refs.filter((ref) => resourceKey(ref) < id).slice(0, 1 + (second % 2));
    if (at === 2) return { type: third % 2 ? "delete" : "reconcile", name };
    return updated(name, at === 0 ? fewer : meta.refs, specOf(step));
  });
}
