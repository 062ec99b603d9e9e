/**
 * A value of CEL. An int is a bigint, a double a number, a map a Map; null is null. What has no form of its own in
 * JavaScript is one of the classes below.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Bytes
  | Timestamp
  | Duration
  | CelType
  | Optional
  | readonly CelValue[]
  | ReadonlyMap<CelValue, CelValue>;

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Bytes {
  readonly value: Uint8Array;

  constructor(value: Uint8Array) {
    this.value = value;
  }
}

/** A point in time, in nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** The type of a value, as `type(x)` gives it. */
export class CelType {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  /** Undefined where there is none. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** A rule that cannot be evaluated: what it is applied to has no such field, overflows, is of another type. */
export class CelError extends Error {}

export function typeName(value: CelValue): string {
  if (value === null) return "null_type";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  if (value instanceof Uint) return "uint";
  if (value instanceof Bytes) return "bytes";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof CelType) return "type";
  if (value instanceof Optional) return "optional_type";
  return Array.isArray(value) ? "list" : "map";
}

export function isList(value: CelValue): value is readonly CelValue[] {
  return Array.isArray(value);
}

export function isMap(value: CelValue): value is ReadonlyMap<CelValue, CelValue> {
  return value instanceof Map;
}

/** Numbers are equal across their types; values of other types are not. */
export function equal(a: CelValue, b: CelValue): boolean {
  const [left, right] = [numberOf(a), numberOf(b)];
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number are compared by value.
  if (left !== undefined && right !== undefined) return left == right;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]!));
  if (isMap(a)) {
    if (!isMap(b) || a.size !== b.size) return false;
    for (const [key, value] of a) {
      const other = lookup(b, key);
      if (other === undefined || !equal(value, other)) return false;
    }
    return true;
  }
  if (a instanceof Bytes) return b instanceof Bytes && Buffer.compare(a.value, b.value) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  return a === b;
}

/** Negative, zero or positive; throws for values that have no order. */
export function compare(a: CelValue, b: CelValue): number {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Bytes && b instanceof Bytes) return Buffer.compare(a.value, b.value);
  if ((a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration)) {
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  }
  throw new CelError("no such overload");
}

/** The value under a key, which may be a number of another type. */
export function lookup(map: ReadonlyMap<CelValue, CelValue>, key: CelValue): CelValue | undefined {
  const direct = map.get(key);
  if (direct !== undefined) return direct;
  const wanted = numberOf(key);
  if (wanted === undefined) return undefined;
  for (const [candidate, value] of map) if (numberOf(candidate) !== undefined && equal(candidate, key)) return value;
  return undefined;
}

export function numberOf(value: CelValue): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}
