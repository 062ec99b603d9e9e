import type { Type } from "../types/type.js";
import type { ListValue, MapValue } from "./collection.js";

/**
 * A CEL value. An int is a bigint, a double is a number, null is null. Other types without a JavaScript counterpart
 * are classes. A failure is a value too: most functions return a failed argument, but `||` and `&&` may ignore it.
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
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | OpaqueValue
  | Failure;

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
  /** The offset of the zone that it was written in, used to format it again. */
  readonly offsetMinutes: number;

  constructor(nanos: bigint, offsetMinutes = 0) {
    this.nanos = nanos;
    this.offsetMinutes = offsetMinutes;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** The result of `type(x)`. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  static readonly none = new Optional(undefined);
  /** Undefined for an empty optional. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** A value of a function library: a quantity, an IP address. */
export abstract class OpaqueValue {
  abstract readonly type: Type;
  abstract equals(other: OpaqueValue): boolean;

  /** The unit of the costs of functions on it. */
  get size(): number {
    return 1;
  }
}

/** The value of an expression that cannot be evaluated: missing field, overflow, wrong type. */
export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const NO_SUCH_OVERLOAD = new Failure("no such overload");
