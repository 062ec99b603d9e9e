import { canonicalQuantity, QuantityError, quantityNanos } from "../../schema/quantity.js";
import { BOOL, DOUBLE, INT, STRING, struct } from "../types/type.js";
import { type CelValue, Failure, OpaqueValue } from "../values/value.js";
import { declare, type FunctionDeclaration, method, overload } from "./declaration.js";
import { NOMINAL, readingText } from "./text-cost.js";

const QUANTITY = struct("kubernetes.Quantity");
const UNIT = 1_000_000_000n;

/** An amount in billionths, the finest unit. */
class QuantityValue extends OpaqueValue {
  readonly type = QUANTITY;
  readonly nanos: bigint;
  /** Whether the amount was given or computed as a whole number. `1000m` is not. */
  readonly isWhole: boolean;

  constructor(nanos: bigint, isWhole: boolean) {
    super();
    this.nanos = nanos;
    this.isWhole = isWhole;
  }

  equals(other: OpaqueValue): boolean {
    return this.nanos === (other as QuantityValue).nanos;
  }

  order(other: CelValue): bigint {
    const { nanos } = other as QuantityValue;
    return this.nanos < nanos ? -1n : this.nanos > nanos ? 1n : 0n;
  }

  plus(nanos: bigint, isWhole: boolean): QuantityValue {
    return new QuantityValue(this.nanos + nanos, this.isWhole && isWhole);
  }

  get integer(): bigint | undefined {
    const whole = this.nanos / UNIT;
    return this.isWhole && this.nanos % UNIT === 0n && BigInt.asIntN(64, whole) === whole ? whole : undefined;
  }
}

export const quantities: readonly FunctionDeclaration[] = [
  declare("quantity", [overload("string_to_quantity", [STRING], QUANTITY, (text) => quantityOf(text as string))], {
    cost: readingText(1),
  }),
  declare(
    "isQuantity",
    [overload("is_quantity_string", [STRING], BOOL, (text) => !(quantityOf(text as string) instanceof Failure))],
    { cost: readingText(1) },
  ),
  declare("sign", [overload("quantity_sign", [QUANTITY], INT, (quantity) => (quantity as QuantityValue).order(ZERO))], {
    cost: NOMINAL,
  }),
  declare(
    "asApproximateFloat",
    [method("quantity_get_float", [QUANTITY], DOUBLE, (quantity) => approximate((quantity as QuantityValue).nanos))],
    { cost: NOMINAL },
  ),
  declare(
    "asInteger",
    [
      method("quantity_get_int", [QUANTITY], INT, (quantity) => {
        return (quantity as QuantityValue).integer ?? new Failure("cannot convert value to integer");
      }),
    ],
    { cost: NOMINAL },
  ),
  declare(
    "isInteger",
    [method("quantity_is_integer", [QUANTITY], BOOL, (quantity) => (quantity as QuantityValue).integer !== undefined)],
    { cost: NOMINAL },
  ),
  declare(
    "add",
    [
      method("quantity_add", [QUANTITY, QUANTITY], QUANTITY, (a, b) => plus(a!, b as QuantityValue, 1n)),
      method("quantity_add_int", [QUANTITY, INT], QUANTITY, (a, b) => plus(a!, ofInt(b!), 1n)),
    ],
    { cost: NOMINAL },
  ),
  declare(
    "sub",
    [
      method("quantity_sub", [QUANTITY, QUANTITY], QUANTITY, (a, b) => plus(a!, b as QuantityValue, -1n)),
      method("quantity_sub_int", [QUANTITY, INT], QUANTITY, (a, b) => plus(a!, ofInt(b!), -1n)),
    ],
    { cost: NOMINAL },
  ),
];

/** Overloads of functions that versions have as well. */
export const quantityOrderOverloads = {
  isGreaterThan: [
    method("quantity_is_greater_than", [QUANTITY, QUANTITY], BOOL, (a, b) => (a as QuantityValue).order(b!) > 0n),
  ],
  isLessThan: [
    method("quantity_is_less_than", [QUANTITY, QUANTITY], BOOL, (a, b) => (a as QuantityValue).order(b!) < 0n),
  ],
  compareTo: [method("quantity_compare_to", [QUANTITY, QUANTITY], INT, (a, b) => (a as QuantityValue).order(b!))],
};

const ZERO = new QuantityValue(0n, true);

function quantityOf(text: string): QuantityValue | Failure {
  try {
    canonicalQuantity(text);
    const nanos = quantityNanos(text);
    const isFraction = /[num]$|[eE]-/.test(text) || nanos % UNIT !== 0n;
    return new QuantityValue(nanos, !isFraction);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return new Failure(error.message);
  }
}

function ofInt(value: CelValue): QuantityValue {
  return new QuantityValue((value as bigint) * UNIT, true);
}

function plus(a: CelValue, b: QuantityValue, sign: bigint): CelValue {
  return (a as QuantityValue).plus(sign * b.nanos, b.isWhole);
}

function approximate(nanos: bigint): number {
  return nanos % UNIT === 0n ? Number(nanos / UNIT) : Number(`${nanos}e-9`);
}
