import { ListValue, MapValue } from "./collection.js";
import {
  Bytes,
  type CelValue,
  Duration,
  Failure,
  NO_SUCH_OVERLOAD,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from "./value.js";

/** Lists and maps with their own equality. */
export interface Comparable {
  equalTo(other: CelValue): boolean | Failure;
}

function hasOwnEquality(value: CelValue): value is CelValue & Comparable {
  return typeof value === "object" && value !== null && "equalTo" in value;
}

/**
 * Numbers of different types can be equal; other values of different types are not. Fails if a part cannot be
 * compared.
 */
export function equal(a: CelValue, b: CelValue): boolean | Failure {
  if (a === null || b === null) return a === b;
  const [left, right] = [numberOf(a), numberOf(b)];
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number are compared by value.
  if (left !== undefined && right !== undefined) return left == right;
  if (hasOwnEquality(a)) return a.equalTo(b);
  if (a instanceof ListValue) return b instanceof ListValue && equalLists(a, b);
  if (a instanceof MapValue) return b instanceof MapValue && equalMaps(a, b);
  if (a instanceof Bytes) return b instanceof Bytes && Buffer.compare(a.value, b.value) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof OpaqueValue) return b instanceof OpaqueValue && a.type.name === b.type.name && a.equals(b);
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  return a === b;
}

export function equalLists(a: ListValue, b: ListValue): boolean | Failure {
  if (a.length !== b.length) return false;
  for (const [index, item] of a.items.entries()) {
    const result = equal(item, b.items[index]!);
    if (result !== true) return result;
  }
  return true;
}

function equalMaps(a: MapValue, b: MapValue): boolean | Failure {
  if (a.size !== b.size) return false;
  for (const key of a.keys) {
    const other = b.get(key);
    if (other === undefined) return false;
    const result = equal(a.get(key)!, other);
    if (result !== true) return result;
  }
  return true;
}

/** Whether a list contains a value. Fails if it is not found and an item could not be compared. */
export function includes(list: ListValue, value: CelValue): boolean | Failure {
  let failure: Failure | undefined;
  for (const item of list.items) {
    const result = equal(item, value);
    if (result === true) return true;
    if (result instanceof Failure) failure ??= result;
  }
  return failure ?? false;
}

/** Negative, zero or positive. Fails for values without an order. */
export function compare(a: CelValue, b: CelValue): number | Failure {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) {
    if (Number.isNaN(left) || Number.isNaN(right)) return new Failure("NaN values cannot be ordered");
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Bytes && b instanceof Bytes) return Buffer.compare(a.value, b.value);
  if ((a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration)) {
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  }
  return NO_SUCH_OVERLOAD;
}

/** Compares by code points. UTF-16 order differs for surrogates. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const isPlain = !/[\ud800-\uffff]/.test(a) || !/[\ud800-\uffff]/.test(b);
  if (isPlain) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function numberOf(value: CelValue): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}
