import { lesser, Range } from "../costs/range.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  optionalOf,
  parameter,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from "../types/type.js";
import { ListValue, MapValue } from "../values/collection.js";
import { compare, equal, includes } from "../values/equality.js";
import { int, uint } from "../values/number.js";
import { duration, timestamp } from "../values/time.js";
import {
  Bytes,
  type CelValue,
  Duration,
  Failure,
  NO_SUCH_OVERLOAD,
  OpaqueValue,
  Timestamp,
  Uint,
} from "../values/value.js";
import { sizeOf } from "../values/value-type.js";
import {
  declare,
  type EstimatedCall,
  type FunctionCost,
  type FunctionDeclaration,
  type Implementation,
  type Overload,
  overload,
} from "./declaration.js";
import { TEXT_FACTOR } from "./text-cost.js";

const A = parameter("A");
const B = parameter("B");
const K = parameter("K");
const V = parameter("V");

const TYPE_IDS = new Map<Type, string>([
  [BOOL, "bool"],
  [INT, "int64"],
  [UINT, "uint64"],
  [DOUBLE, "double"],
  [STRING, "string"],
  [BYTES, "bytes"],
  [TIMESTAMP, "timestamp"],
  [DURATION, "duration"],
]);
const NUMBERS = [INT, UINT, DOUBLE];

/** Compares two texts up to the end of the shorter one. */
const COMPARING: FunctionCost = {
  estimate: ({ args: [left, right] }) => {
    const max = lesser(left!.size.max, right!.size.max);
    return { cost: new Range(max > 0n ? 1n : 0n, max).scaled(TEXT_FACTOR) };
  },
  track: ([left, right]) => Math.ceil(Math.min(sizeOf(left!), sizeOf(right!)) * TEXT_FACTOR),
};

/** Values of function libraries compare at a cost of one. */
const EQUALITY: FunctionCost = {
  estimate: (call) => opaqueEquality(call) ?? COMPARING.estimate!(call),
  track: (args, result, id) => {
    const [left] = args;
    return left instanceof OpaqueValue && id === "equals" ? 1 : COMPARING.track!(args, result, id);
  },
};

const MAX_FORMAT_SIZE = 64n;

function opaqueEquality({ overload: id, args: [left, right] }: EstimatedCall): { readonly cost: Range } | undefined {
  const { kind, name } = left!.type;
  if (id !== "equals" || kind !== right!.type.kind || name !== right!.type.name) return undefined;
  switch (name) {
    case "kubernetes.NamedFormat":
      return { cost: new Range(1n, MAX_FORMAT_SIZE).scaled(TEXT_FACTOR) };
    case "kubernetes.URL":
      return { cost: new Range(1n, right!.isSized ? right!.size.max : 1n).scaled(TEXT_FACTOR) };
  }
  const isKnown = name.startsWith("net.") || name.startsWith("kubernetes.");
  return isKnown ? { cost: Range.one } : undefined;
}

const JOINING: FunctionCost = {
  estimate: ({ args: [left, right] }) => {
    const size = left!.size.plus(right!.size);
    return { cost: size.scaled(TEXT_FACTOR), size };
  },
  track: ([left, right]) => Math.ceil((sizeOf(left!) + sizeOf(right!)) * TEXT_FACTOR),
};

export const operators: readonly FunctionDeclaration[] = [
  // The evaluator implements the next four, because they do not need all their operands.
  declare("_?_:_", [overload("conditional", [BOOL, A, A], A)]),
  declare("_&&_", [overload("logical_and", [BOOL, BOOL], BOOL)]),
  declare("_||_", [overload("logical_or", [BOOL, BOOL], BOOL)]),
  declare("@not_strictly_false", [overload("not_strictly_false", [BOOL], BOOL)], {
    isNonStrict: true,
    apply: (value) => value !== false,
  }),
  declare("!_", [overload("logical_not", [BOOL], BOOL)], {
    apply: (value) => (typeof value === "boolean" ? !value : NO_SUCH_OVERLOAD),
  }),
  declare("_==_", [overload("equals", [A, A], BOOL, undefined, EQUALITY)], { apply: equal as Implementation }),
  declare("_!=_", [overload("not_equals", [A, A], BOOL, undefined, EQUALITY)], {
    apply: (a, b) => {
      const result = equal(a!, b!);
      return result instanceof Failure ? result : !result;
    },
  }),
  ...relation("_<_", "less", (order) => order < 0),
  ...relation("_<=_", "less_equals", (order) => order <= 0),
  ...relation("_>_", "greater", (order) => order > 0),
  ...relation("_>=_", "greater_equals", (order) => order >= 0),
  declare(
    "_+_",
    [
      overload("add_bytes", [BYTES, BYTES], BYTES, undefined, JOINING),
      overload("add_double", [DOUBLE, DOUBLE], DOUBLE),
      overload("add_duration_duration", [DURATION, DURATION], DURATION),
      overload("add_duration_timestamp", [DURATION, TIMESTAMP], TIMESTAMP),
      overload("add_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
      overload("add_int64", [INT, INT], INT),
      overload("add_list", [listOf(A), listOf(A)], listOf(A), undefined, {
        estimate: ({ args: [left, right] }) => ({ cost: Range.one, size: left!.size.plus(right!.size) }),
      }),
      overload("add_string", [STRING, STRING], STRING, undefined, JOINING),
      overload("add_uint64", [UINT, UINT], UINT),
    ],
    { apply: sum },
  ),
  declare(
    "_-_",
    [
      overload("subtract_double", [DOUBLE, DOUBLE], DOUBLE),
      overload("subtract_duration_duration", [DURATION, DURATION], DURATION),
      overload("subtract_int64", [INT, INT], INT),
      overload("subtract_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
      overload("subtract_timestamp_timestamp", [TIMESTAMP, TIMESTAMP], DURATION),
      overload("subtract_uint64", [UINT, UINT], UINT),
    ],
    { apply: difference },
  ),
  declare("_*_", arithmeticOverloads("multiply", [DOUBLE, INT, UINT]), {
    apply: (a, b) =>
      arithmetic(
        "_*_",
        a!,
        b!,
        (x, y) => x * y,
        (x, y) => x * y,
      ),
  }),
  declare("_/_", arithmeticOverloads("divide", [DOUBLE, INT, UINT]), {
    apply: (a, b) =>
      arithmetic(
        "_/_",
        a!,
        b!,
        (x, y) => (y === 0n ? new Failure("division by zero") : x / y),
        (x, y) => x / y,
      ),
  }),
  declare("_%_", arithmeticOverloads("modulo", [INT, UINT]), {
    apply: (a, b) =>
      typeof a === "number"
        ? new Failure("no such overload: _%_")
        : arithmetic("_%_", a!, b!, (x, y) => (y === 0n ? new Failure("modulus by zero") : x % y)),
  }),
  declare("-_", [overload("negate_double", [DOUBLE], DOUBLE), overload("negate_int64", [INT], INT)], {
    apply: (value) => {
      if (typeof value === "bigint") return int(-value);
      return typeof value === "number" ? -value : new Failure("no such overload: -_");
    },
  }),
  declare(
    "@in",
    [
      overload("in_list", [A, listOf(A)], BOOL, undefined, {
        estimate: ({ args: [, list] }) => ({ cost: list!.size }),
        track: ([, list]) => sizeOf(list!),
      }),
      overload("in_map", [A, mapOf(A, B)], BOOL),
    ],
    { apply: contained },
  ),
  declare("_[_]", [
    overload("index_list", [listOf(A), INT], A),
    overload("index_map", [mapOf(A, B), A], B),
    overload("optional_list_index_int", [optionalOf(listOf(V)), INT], optionalOf(V)),
    overload("optional_map_index_value", [optionalOf(mapOf(K, V)), K], optionalOf(V)),
  ]),
  declare("_[?_]", [
    overload("list_optindex_optional_int", [listOf(V), INT], optionalOf(V)),
    overload("optional_list_optindex_optional_int", [optionalOf(listOf(V)), INT], optionalOf(V)),
    overload("map_optindex_optional_value", [mapOf(K, V), K], optionalOf(V)),
    overload("optional_map_optindex_optional_value", [optionalOf(mapOf(K, V)), K], optionalOf(V)),
  ]),
  declare("_?._", [overload("select_optional_field", [DYN, STRING], optionalOf(V))]),
];

function relation(name: string, id: string, holds: (order: number) => boolean): readonly FunctionDeclaration[] {
  const same = [...TYPE_IDS].map(([type, typeId]) => {
    const isText = type === STRING || type === BYTES;
    return overload(`${id}_${typeId}`, [type, type], BOOL, undefined, isText ? COMPARING : undefined);
  });
  const mixed = NUMBERS.flatMap((left) =>
    NUMBERS.filter((right) => right !== left).map((right) =>
      overload(`${id}_${TYPE_IDS.get(left)}_${TYPE_IDS.get(right)}`, [left, right], BOOL),
    ),
  );
  const apply: Implementation = (a, b) => {
    const order = compare(a!, b!);
    if (!(order instanceof Failure)) return holds(order);
    return order === NO_SUCH_OVERLOAD && !isOrdered(a!) ? new Failure(`no such overload: ${name}`) : order;
  };
  return [declare(name, [...same, ...mixed], { apply })];
}

/** Whether values of this type are ordered. */
function isOrdered(value: CelValue): boolean {
  return typeof value !== "object" || [Uint, Bytes, Timestamp, Duration].some((type) => value instanceof type);
}

function arithmeticOverloads(id: string, types: readonly Type[]): readonly Overload[] {
  return types.map((type) => overload(`${id}_${TYPE_IDS.get(type)}`, [type, type], type));
}

function sum(a: CelValue, b: CelValue): CelValue {
  if (typeof a === "string") return typeof b === "string" ? a + b : NO_SUCH_OVERLOAD;
  if (a instanceof ListValue) return b instanceof ListValue ? a.plus(b) : NO_SUCH_OVERLOAD;
  if (a instanceof Bytes) return b instanceof Bytes ? new Bytes(Buffer.concat([a.value, b.value])) : NO_SUCH_OVERLOAD;
  if (a instanceof Timestamp) {
    return b instanceof Duration ? timestamp(a.nanos + b.nanos, a.offsetMinutes) : NO_SUCH_OVERLOAD;
  }
  if (a instanceof Duration) {
    if (b instanceof Duration) return duration(a.nanos + b.nanos);
    return b instanceof Timestamp ? timestamp(a.nanos + b.nanos, b.offsetMinutes) : NO_SUCH_OVERLOAD;
  }
  return arithmetic(
    "_+_",
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
}

function difference(a: CelValue, b: CelValue): CelValue {
  if (a instanceof Timestamp) {
    if (b instanceof Timestamp) return duration(a.nanos - b.nanos);
    return b instanceof Duration ? timestamp(a.nanos - b.nanos, a.offsetMinutes) : NO_SUCH_OVERLOAD;
  }
  if (a instanceof Duration) return b instanceof Duration ? duration(a.nanos - b.nanos) : NO_SUCH_OVERLOAD;
  return arithmetic(
    "_-_",
    a,
    b,
    (x, y) => x - y,
    (x, y) => x - y,
  );
}

/** Both operands must have one type: unlike comparison, arithmetic does not mix types. */
function arithmetic(
  name: string,
  a: CelValue,
  b: CelValue,
  ofInts: (x: bigint, y: bigint) => bigint | Failure,
  ofDoubles?: (x: number, y: number) => number,
): CelValue {
  if (typeof a === "bigint") return typeof b === "bigint" ? checked(ofInts(a, b), int) : NO_SUCH_OVERLOAD;
  if (a instanceof Uint) return b instanceof Uint ? checked(ofInts(a.value, b.value), uint) : NO_SUCH_OVERLOAD;
  if (typeof a === "number") return typeof b === "number" ? ofDoubles!(a, b) : NO_SUCH_OVERLOAD;
  return new Failure(`no such overload: ${name}`);
}

function checked(result: bigint | Failure, check: (value: bigint) => CelValue): CelValue {
  return result instanceof Failure ? result : check(result);
}

function contained(item: CelValue, container: CelValue): CelValue {
  if (container instanceof ListValue) return includes(container, item);
  if (!(container instanceof MapValue)) return NO_SUCH_OVERLOAD;
  const found = container.get(item);
  return found instanceof Failure ? found : found !== undefined;
}
