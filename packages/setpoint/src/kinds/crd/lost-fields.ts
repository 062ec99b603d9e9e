import { isSameJson } from "../same-json.js";

/** A field, an item by its index in a list of this length, or an item by its name in a list whose items all have one. */
type Step = string | { readonly at: number; readonly of: number } | { readonly named: string };

/** A field that a conversion there and back loses. Without `from` or `to`, it is absent there. */
export interface LostField {
  readonly path: readonly Step[];
  /** Its value after the conversion back. */
  readonly from?: unknown;
  /** Its original value. */
  readonly to?: unknown;
}

type Fields = Record<string, unknown>;

/** The fields in which `original` differs from its conversion there and back. Both are JSON. */
export function lostFields(original: unknown, back: unknown): readonly LostField[] {
  const found: LostField[] = [];
  compare(original, back, [], found);
  return found;
}

/**
 * The body with the lost fields restored. A field that was changed meanwhile, in the version that lacks it, stays
 * changed; a field whose parent is gone is dropped.
 */
export function withLostFields<Body extends object>(body: Body, lost: readonly LostField[]): Body {
  const copy = structuredClone(body);
  for (const field of lost) restore(copy, field);
  return copy;
}

function compare(original: unknown, back: unknown, path: readonly Step[], found: LostField[]): void {
  if (isSameJson(original, back)) return;
  if (isFields(original) && isFields(back)) {
    for (const name of new Set([...Object.keys(original), ...Object.keys(back)])) {
      if (Object.hasOwn(original, name) && Object.hasOwn(back, name))
        compare(original[name], back[name], [...path, name], found);
      else found.push(lostField([...path, name], own(back, name), own(original, name)));
    }
    return;
  }
  const steps = Array.isArray(original) && Array.isArray(back) ? itemSteps(original, back) : undefined;
  if (!steps) {
    found.push(lostField(path, back, original));
    return;
  }
  for (const [at, step] of steps.entries())
    compare((original as unknown[])[at], (back as unknown[])[at], [...path, step], found);
}

/** The key of list items; undefined if the items of the two lists cannot be matched. */
function itemSteps(original: readonly unknown[], back: readonly unknown[]): readonly Step[] | undefined {
  if (original.length !== back.length) return undefined;
  const [names, others] = [original.map(nameOf), back.map(nameOf)];
  const isNamed = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  if (isNamed) return isSameJson(names, others) ? names.map((name) => ({ named: name! })) : undefined;
  return original.map((_, at) => ({ at, of: original.length }));
}

function nameOf(item: unknown): string | undefined {
  return isFields(item) && typeof item.name === "string" ? item.name : undefined;
}

function restore(body: object, { path, from, to }: LostField): void {
  let parent: unknown = body;
  for (const step of path.slice(0, -1)) parent = at(parent, step);
  const last = path.at(-1);
  if (last === undefined || !isSameJson(at(parent, last) ?? null, from ?? null)) return;
  if (typeof last === "string") {
    if (!isFields(parent)) return;
    if (to === undefined) delete parent[last];
    else Object.defineProperty(parent, last, { value: to, enumerable: true, configurable: true, writable: true });
    return;
  }
  const index = Array.isArray(parent) ? indexOf(parent, last) : -1;
  if (index >= 0) (parent as unknown[])[index] = to;
}

function at(parent: unknown, step: Step): unknown {
  if (typeof step === "string") return isFields(parent) ? own(parent, step) : undefined;
  return Array.isArray(parent) ? (parent as unknown[])[indexOf(parent, step)] : undefined;
}

function indexOf(items: readonly unknown[], step: Exclude<Step, string>): number {
  if ("named" in step) return items.findIndex((item) => nameOf(item) === step.named);
  return items.length === step.of ? step.at : -1;
}

function lostField(path: readonly Step[], from: unknown, to: unknown): LostField {
  return { path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
