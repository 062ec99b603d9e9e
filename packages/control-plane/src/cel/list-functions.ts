import type { Budget } from "./budget.js";
import type { CelFunction } from "./functions.js";
import { operators } from "./operators.js";
import { CelError, type CelValue, compare, equal, isList } from "./value.js";

/** The lists libraries, that of Kubernetes and that of CEL, and sets. */
export const listFunctions: Readonly<Record<string, CelFunction>> = {
  isSorted: onList((list) => list.every((item, index) => index === 0 || compare(list[index - 1]!, item) <= 0)),
  sum: ([list], budget) => {
    if (!isList(list!)) return undefined;
    budget.spend(list.length);
    if (list.length === 0) return 0n;
    return list.reduce((total, item) => operators["+"]!([total, item], budget) ?? noOverload());
  },
  min: onList((list) => list.reduce((least, item) => (compare(item, least) < 0 ? item : least), filled(list, "min"))),
  max: onList((list) => list.reduce((most, item) => (compare(item, most) > 0 ? item : most), filled(list, "max"))),
  indexOf: ([list, item], budget) => at(list!, item!, budget, (items, same) => items.findIndex(same)),
  lastIndexOf: ([list, item], budget) => at(list!, item!, budget, (items, same) => items.findLastIndex(same)),
  distinct: onList((list, budget) => {
    budget.spend(list.length * list.length);
    return list.filter((item, index) => list.findIndex((other) => equal(item, other)) === index);
  }),
  sort: onList((list) => list.toSorted(compare)),
  reverse: onList((list) => list.toReversed()),
  slice: ([list, from, to]) => {
    if (!isList(list!) || typeof from !== "bigint" || typeof to !== "bigint") return undefined;
    if (from < 0n || to < 0n) throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`);
    if (from > to)
      throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`);
    if (to > BigInt(list.length)) throw new CelError(`cannot slice(${from}, ${to}), list is length ${list.length}`);
    return list.slice(Number(from), Number(to));
  },
  flatten: ([list, depth], budget) => {
    if (!isList(list!)) return undefined;
    const flat = flattened(list, typeof depth === "bigint" ? Number(depth) : 1);
    budget.spend(flat.length);
    return flat;
  },
  "lists.range": ([count], budget) => {
    if (typeof count !== "bigint") return undefined;
    budget.spend(Number(count));
    return Array.from({ length: Number(count) }, (_, index) => BigInt(index));
  },
  "sets.contains": onLists((list, part) => part.every((item) => list.some((other) => equal(item, other)))),
  "sets.intersects": onLists((list, part) => part.some((item) => list.some((other) => equal(item, other)))),
  "sets.equivalent": onLists(
    (list, other) =>
      list.every((item) => other.some((candidate) => equal(item, candidate))) &&
      other.every((item) => list.some((candidate) => equal(item, candidate))),
  ),
};

function onList(work: (list: readonly CelValue[], budget: Budget) => CelValue): CelFunction {
  return ([list], budget) => {
    if (!isList(list!)) return undefined;
    budget.spend(list.length);
    return work(list, budget);
  };
}

function onLists(work: (list: readonly CelValue[], other: readonly CelValue[]) => CelValue): CelFunction {
  return ([list, other], budget) => {
    if (!isList(list!) || !isList(other!)) return undefined;
    budget.spend(list.length * other.length);
    return work(list, other);
  };
}

function at(
  list: CelValue,
  item: CelValue,
  budget: Budget,
  find: (items: readonly CelValue[], same: (other: CelValue) => boolean) => number,
): CelValue | undefined {
  if (!isList(list)) return undefined;
  budget.spend(list.length);
  return BigInt(find(list, (other) => equal(other, item)));
}

function flattened(list: readonly CelValue[], depth: number): readonly CelValue[] {
  if (depth <= 0) return list;
  return list.flatMap((item): readonly CelValue[] => (isList(item) ? flattened(item, depth - 1) : [item]));
}

function filled(list: readonly CelValue[], name: string): CelValue {
  const [first] = list;
  if (first === undefined) throw new CelError(`${name} called on empty list`);
  return first;
}

function noOverload(): never {
  throw new CelError("no such overload");
}
