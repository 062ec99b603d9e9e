import { ListValue, MapValue } from "../values/collection.js";
import { formatDouble } from "../values/number.js";
import { type CelValue, Failure, Optional, TypeValue, Uint } from "../values/value.js";
import { goTypeName, isPlain } from "../values/value-type.js";

/** `operand.field`; an optional for an optional operand. */
export function fieldOf(operand: CelValue, field: string): CelValue {
  if (operand instanceof Optional) return optionalField(operand, field);
  const found = operand instanceof MapValue ? operand.get(field) : undefined;
  return found === undefined ? noSuchKey(field) : found;
}

/** `has(operand.field)`. */
export function hasField(operand: CelValue, field: string): CelValue {
  if (operand instanceof Optional) return operand.value === undefined ? false : hasField(operand.value, field);
  if (!(operand instanceof MapValue)) return noSuchKey(field);
  const found = operand.get(field);
  return found instanceof Failure ? found : found !== undefined;
}

/** `operand.?field`. */
export function optionalField(operand: CelValue, field: string): CelValue {
  return optionalElement(operand, field);
}

/** `operand[index]`; an optional for an optional operand. */
export function elementOf(operand: CelValue, index: CelValue): CelValue {
  if (operand instanceof Optional) return optionalElement(operand, index);
  const found = lookUp(operand, index);
  if (found !== undefined) return found;
  return operand instanceof ListValue ? outOfBounds(index) : noSuchKey(index);
}

/** `operand[?index]`. */
export function optionalElement(operand: CelValue, index: CelValue): CelValue {
  if (operand instanceof Optional) {
    return operand.value === undefined ? operand : optionalElement(operand.value, index);
  }
  const found = lookUp(operand, index);
  if (found === undefined) return Optional.none;
  return found instanceof Failure ? found : new Optional(found);
}

function lookUp(operand: CelValue, index: CelValue): CelValue | undefined {
  if (operand instanceof MapValue) return operand.get(index);
  if (!(operand instanceof ListValue)) return noSuchKey(index);
  if (typeof index === "bigint") return index < 0n ? undefined : operand.at(Number(index));
  const at = typeof index === "number" ? index : Number.NaN;
  return Number.isInteger(at) ? operand.at(at) : new Failure(`unsupported index type '${typeof index}' in list`);
}

function outOfBounds(index: CelValue): Failure {
  return new Failure(`index out of bounds: ${printed(index)}`);
}

function noSuchKey(key: CelValue): Failure {
  return new Failure(`no such key: ${printed(key)}`);
}

/** A qualifier, as Go prints it. */
function printed(value: CelValue): string {
  return typeof value === "number" ? formatDouble(value) : String(value);
}

/** Whether a value may index a map or list. */
export function isQualifier(value: CelValue): boolean {
  return value instanceof Uint || isPlain(value);
}

export function badQualifier(value: CelValue): Failure {
  if (value instanceof ListValue || value instanceof MapValue) {
    return new Failure(`invalid qualifier type: ${value.goType}`);
  }
  const isPointer = value instanceof Optional || value instanceof TypeValue;
  return new Failure(`invalid qualifier type: ${isPointer ? "*" : ""}${goTypeName(value)}`);
}
