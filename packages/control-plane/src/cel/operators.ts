import type { CelFunction } from "./functions.js";
import {
  Bytes,
  CelError,
  type CelValue,
  compare,
  Duration,
  equal,
  isList,
  isMap,
  lookup,
  Timestamp,
  Uint,
} from "./value.js";

export const operators: Readonly<Record<string, CelFunction>> = {
  "==": ([a, b]) => equal(a!, b!),
  "!=": ([a, b]) => !equal(a!, b!),
  "<": ([a, b]) => compare(a!, b!) < 0,
  "<=": ([a, b]) => compare(a!, b!) <= 0,
  ">": ([a, b]) => compare(a!, b!) > 0,
  ">=": ([a, b]) => compare(a!, b!) >= 0,
  "!": ([a]) => (typeof a === "boolean" ? !a : undefined),
  neg: ([a]) => (typeof a === "bigint" ? int(-a) : typeof a === "number" ? -a : undefined),
  "+": ([a, b], budget) => {
    if (typeof a === "string" && typeof b === "string") {
      budget.spendText(a.length + b.length);
      return a + b;
    }
    if (isList(a!) && isList(b!)) {
      budget.spend(1);
      return [...a, ...b];
    }
    return sum(a!, b!);
  },
  "-": ([a, b]) => {
    if (a instanceof Timestamp && b instanceof Timestamp) return new Duration(a.nanos - b.nanos);
    if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.nanos - b.nanos);
    if (a instanceof Duration && b instanceof Duration) return new Duration(a.nanos - b.nanos);
    return arithmetic(
      a!,
      b!,
      (x, y) => x - y,
      (x, y) => x - y,
    );
  },
  "*": ([a, b]) =>
    arithmetic(
      a!,
      b!,
      (x, y) => x * y,
      (x, y) => x * y,
    ),
  "/": ([a, b]) =>
    arithmetic(
      a!,
      b!,
      (x, y) => {
        if (y === 0n) throw new CelError("division by zero");
        return x / y;
      },
      (x, y) => x / y,
    ),
  "%": ([a, b]) =>
    arithmetic(a!, b!, (x, y) => {
      if (y === 0n) throw new CelError("modulus by zero");
      return x % y;
    }),
  in: ([item, container], budget) => {
    if (isMap(container!)) return lookup(container, item!) !== undefined;
    if (!isList(container!)) return undefined;
    budget.spend(container.length);
    return container.some((candidate) => equal(candidate, item!));
  },
};

function sum(a: CelValue, b: CelValue): CelValue | undefined {
  if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.nanos + b.nanos);
  if (a instanceof Duration && b instanceof Timestamp) return new Timestamp(a.nanos + b.nanos);
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.nanos + b.nanos);
  if (a instanceof Bytes && b instanceof Bytes) return new Bytes(Buffer.concat([a.value, b.value]));
  return arithmetic(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
}

/** Both of one type: arithmetic does not mix them, as comparison does. */
function arithmetic(
  a: CelValue,
  b: CelValue,
  ofInts: (x: bigint, y: bigint) => bigint,
  ofDoubles?: (x: number, y: number) => number,
): CelValue | undefined {
  if (typeof a === "bigint" && typeof b === "bigint") return int(ofInts(a, b));
  if (a instanceof Uint && b instanceof Uint) return uint(ofInts(a.value, b.value));
  if (typeof a === "number" && typeof b === "number") return ofDoubles?.(a, b);
  return undefined;
}

export function int(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError("integer overflow");
  return value;
}

export function uint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}
