import { Range } from "../costs/range.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  parameter,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from "../types/type.js";
import { type EntryMap, ListValue, type MapValue } from "../values/collection.js";
import { compare, equal } from "../values/equality.js";
import { Bytes, type CelValue, Duration, Failure, Uint } from "../values/value.js";
import { sizeOf, typeName } from "../values/value-type.js";
import {
  type CallEstimate,
  declare,
  type EstimatedNode,
  type FunctionCost,
  type FunctionDeclaration,
  method,
  type Overload,
  overload,
} from "./declaration.js";
import { operators } from "./operators.js";
import { textIndexOverloads } from "./strings.js";
import { TEXT_FACTOR, traversalCost } from "./text-cost.js";

const T = parameter("T");
const LIST = listOf(T);
const ORDERED: readonly (readonly [name: string, Type])[] = [
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["bool", BOOL],
  ["duration", DURATION],
  ["timestamp", TIMESTAMP],
  ["string", STRING],
  ["bytes", BYTES],
];
const ALLOCATION = 10;

/** Visits each item once, including all of its text. */
const TRAVERSING: FunctionCost = {
  estimate: ({ target }) => {
    if (target === undefined) return undefined;
    const { items, size } = target;
    if (items === undefined) return { cost: size.scaled(TEXT_FACTOR) };
    const isText = items.type.kind === "string" || items.type.kind === "bytes";
    const each = isText ? Range.one.plus(items.size.scaled(TEXT_FACTOR)) : Range.one;
    return { cost: size.times(each) };
  },
  track: ([list]) => traversalCost(list!),
};

/** List functions of Kubernetes and of CEL's extensions. */
export const lists: readonly FunctionDeclaration[] = [
  declare(
    "isSorted",
    overloadsFor("is_sorted_bool", () => BOOL, isSorted),
    { cost: TRAVERSING },
  ),
  declare("sum", sumOverloads(), { cost: TRAVERSING }),
  declare(
    "min",
    overloadsFor(
      "min",
      (type) => type,
      (list) => extreme("min", list, -1),
      true,
    ),
    { cost: TRAVERSING },
  ),
  declare(
    "max",
    overloadsFor(
      "max",
      (type) => type,
      (list) => extreme("max", list, 1),
      true,
    ),
    { cost: TRAVERSING },
  ),
  declare(
    "indexOf",
    [
      method("list_a_index_of_int", [listOf(parameter("A")), parameter("A")], INT, (list, item) =>
        BigInt((list as ListValue).items.findIndex((other) => equal(other, item!) === true)),
      ),
      ...textIndexOverloads.indexOf,
    ],
    { cost: TRAVERSING },
  ),
  declare(
    "lastIndexOf",
    [
      method("list_a_last_index_of_int", [listOf(parameter("A")), parameter("A")], INT, (list, item) =>
        BigInt((list as ListValue).items.findLastIndex((other) => equal(other, item!) === true)),
      ),
      ...textIndexOverloads.lastIndexOf,
    ],
    { cost: TRAVERSING },
  ),
  declare("slice", [
    method("list_slice", [LIST, INT, INT], LIST, sliced, {
      estimate: ({ target, args: [from, to] }) => {
        const count = BigInt.asUintN(64, literalCount(to!, target!.size.max) - literalCount(from!, 0n));
        return allocating(1, new Range(count, count));
      },
      track: (_args, result) => allocatingCost(1, sizeOf(result)),
      isOfResult: true,
    }),
  ]),
  declare("flatten", [
    method("list_flatten", [listOf(LIST)], LIST, (list) => flattened(list!, 1n), flattening()),
    method(
      "list_flatten_int",
      [listOf(DYN), INT],
      listOf(DYN),
      (list, depth) => flattened(list!, depth!),
      flattening(),
    ),
  ]),
  declare(
    "sort",
    sortOverloads(
      "sort",
      (type) => [listOf(type)],
      (type) => listOf(type),
      (list) => sortedBy(list!, list!),
      0,
    ),
  ),
  declare(
    "@sortByAssociatedKeys",
    sortOverloads(
      "sortByAssociatedKeys",
      (type) => [LIST, listOf(type)],
      () => LIST,
      (list, keys) => sortedBy(list!, keys!),
      1,
    ),
  ),
  declare("lists.range", [
    overload("lists_range", [INT], listOf(INT), rangeOf, {
      estimate: ({ args: [count] }) => {
        const exact = literalCount(count!, Range.unknown.max);
        return allocating(1, new Range(exact, exact));
      },
      track: ([count]) => allocatingCost(1, Math.max(0, Number(count as bigint))),
    }),
  ]),
  declare("reverse", [
    method("list_reverse", [LIST], LIST, (list) => new ListValue([...(list as ListValue).items].reverse()), {
      estimate: ({ target }) => allocating(1, target!.size),
      track: (_args, result) => allocatingCost(1, sizeOf(result)),
      isOfResult: true,
    }),
  ]),
  declare("distinct", [
    method("list_distinct", [LIST], LIST, distinct, {
      estimate: ({ target }) => allocating(2, target!.size.times(target!.size)),
      track: ([list]) => selfComparing(list as ListValue),
    }),
  ]),
  declare("sets.contains", [setOverload("contains", 1, (list, part) => containsAll(list, part))]),
  declare("sets.intersects", [
    setOverload("intersects", 1, (list, other) => list.items.some((item) => holds(other, item))),
  ]),
  declare("sets.equivalent", [
    setOverload("equivalent", 2, (list, other) => containsAll(list, other) && containsAll(other, list)),
  ]),
  declare("cel.@mapInsert", mapInsertOverloads()),
];

function overloadsFor(
  suffix: string,
  result: (type: Type) => Type,
  apply: (list: ListValue) => CelValue,
  repeatsType = false,
): readonly Overload[] {
  return ORDERED.map(([name, type]) => {
    const id = `list_${name}_${suffix}${repeatsType ? `_${name}` : ""}`;
    return method(id, [listOf(type)], result(type), (list) => apply(list as ListValue));
  });
}

function sumOverloads(): readonly Overload[] {
  const zeros: Readonly<Record<string, CelValue>> = {
    int: 0n,
    uint: new Uint(0n),
    double: 0,
    duration: new Duration(0n),
  };
  const plus = operators.find(({ name }) => name === "_+_")!.apply!;
  return ORDERED.filter(([name]) => name in zeros).map(([name, type]) =>
    method(`list_${name}_sum_${name}`, [listOf(type)], type, (list) => {
      let total: CelValue = zeros[name] ?? null;
      for (const item of (list as ListValue).items) {
        total = plus(total, item);
        if (total instanceof Failure) return total;
      }
      return total;
    }),
  );
}

function isSorted({ items }: ListValue): CelValue {
  for (let index = 1; index < items.length; index++) {
    const order = compare(items[index - 1]!, items[index]!);
    if (order instanceof Failure) return order;
    if (order > 0) return false;
  }
  return true;
}

function extreme(name: string, { items }: ListValue, direction: number): CelValue {
  const first: CelValue | undefined = items[0];
  if (first === undefined) return new Failure(`${name} called on empty list`);
  let result: CelValue = first;
  for (const item of items) {
    const order = compare(item, result);
    if (order instanceof Failure) return order;
    if (order * direction > 0) result = item;
  }
  return result;
}

function sliced(list: CelValue, from: CelValue, to: CelValue): CelValue {
  const { items } = list as ListValue;
  const [start, end] = [from as bigint, to as bigint];
  const refuse = (why: string): Failure => new Failure(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) return refuse("negative indexes not supported");
  if (start > end) return refuse("start index must be less than or equal to end index");
  if (end > BigInt(items.length)) return refuse(`list is length ${items.length}`);
  return new ListValue(items.slice(Number(start), Number(end)));
}

function flattened(list: CelValue, depth: CelValue): CelValue {
  if ((depth as bigint) < 0n) return new Failure("level must be non-negative");
  const flat = (items: readonly CelValue[], levels: bigint): readonly CelValue[] =>
    items.flatMap((item) => (item instanceof ListValue && levels > 0n ? flat(item.items, levels - 1n) : [item]));
  return new ListValue(flat((list as ListValue).items, depth as bigint));
}

function flattening(): FunctionCost {
  return {
    estimate: ({ target, args: [depth] }) =>
      allocating(Number(depth === undefined ? 1n : literalCount(depth, Range.unknown.max)), target!.size),
    track: ([list, depth]) => allocatingCost(depth === undefined ? 1 : Number(depth as bigint), sizeOf(list!)),
  };
}

function sortOverloads(
  suffix: string,
  parameters: (type: Type) => readonly Type[],
  result: (type: Type) => Type,
  apply: (list: CelValue, keys?: CelValue) => CelValue,
  keys: 0 | 1,
): readonly Overload[] {
  return ORDERED.map(([, type]) => {
    const factor = type === STRING || type === BYTES ? 2 + TEXT_FACTOR : 2;
    return method(`list_${type.name}_${suffix}`, parameters(type), result(type), apply as Overload["apply"], {
      estimate: ({ target, args }) => {
        const { size } = keys === 0 ? target! : args[0]!;
        return allocating(factor, size.times(size));
      },
      track: (args) => selfComparing(args[keys] as ListValue),
    });
  });
}

function sortedBy(list: CelValue, keys: CelValue): CelValue {
  const { items } = list as ListValue;
  const by = (keys as ListValue).items;
  if (items.length === 0) return list;
  const type = typeName(by[0]!);
  if (by.some((key) => typeName(key) !== type)) return new Failure("list elements must have the same type");
  const order = items.map((_item, index) => index);
  order.sort((a, b) => {
    const result = compare(by[a]!, by[b]!);
    return result instanceof Failure ? 0 : result;
  });
  return new ListValue(order.map((index) => items[index]!));
}

function rangeOf(count: CelValue): CelValue {
  const length = Math.max(0, Number(count as bigint));
  return new ListValue(Array.from({ length }, (_item, index) => BigInt(index)));
}

function distinct(list: CelValue): CelValue {
  const unique: CelValue[] = [];
  for (const item of (list as ListValue).items) {
    if (!unique.some((other) => equal(item, other) === true)) unique.push(item);
  }
  return new ListValue(unique);
}

function holds(list: ListValue, item: CelValue): boolean {
  return list.items.some((other) => equal(other, item) === true);
}

function containsAll(list: ListValue, part: ListValue): boolean {
  return part.items.every((item) => holds(list, item));
}

function setOverload(name: string, factor: number, apply: (a: ListValue, b: ListValue) => boolean): Overload {
  return overload(`list_sets_${name}_list`, [LIST, LIST], BOOL, (a, b) => apply(a as ListValue, b as ListValue), {
    estimate: ({ args: [a, b] }) => ({ cost: a!.size.times(b!.size).scaled(factor).plus(Range.one) }),
    track: ([a, b]) => 1 + Math.trunc(sizeOf(a!) * sizeOf(b!) * factor),
  });
}

function mapInsertOverloads(): readonly Overload[] {
  const map = mapOf(parameter("K"), parameter("V"));
  return [
    overload("@mapInsert_map_key_value", [map, parameter("K"), parameter("V")], map, (target, key, value) =>
      (target as EntryMap).insert(key!, value!),
    ),
    overload("@mapInsert_map_map", [map, map], map, (target, added) => {
      const more = added as MapValue;
      for (const key of more.keys) {
        const result = (target as EntryMap).insert(key, more.get(key)!);
        if (result instanceof Failure) return result;
      }
      return target!;
    }),
  ];
}

/** A count that is a literal in the expression. */
function literalCount({ expression }: EstimatedNode, otherwise: bigint): bigint {
  if (expression.kind !== "literal" || typeof expression.value !== "bigint") return otherwise;
  return expression.value < 0n ? 0n : expression.value;
}

function allocating(factor: number, size: Range): CallEstimate {
  return { cost: size.scaled(factor).plus(Range.exactly(1 + ALLOCATION)), size };
}

function allocatingCost(factor: number, size: number): number {
  return Math.trunc(size * factor) + 1 + ALLOCATION;
}

function selfComparing(list: ListValue): number {
  const first = list.at(0);
  const isText = typeof first === "string" || first instanceof Bytes;
  return allocatingCost(isText ? 2 + TEXT_FACTOR : 2, list.length * list.length);
}
