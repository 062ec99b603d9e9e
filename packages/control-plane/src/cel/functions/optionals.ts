import { BOOL, listOf, optionalOf, parameter } from "../types/type.js";
import { ListValue, MapValue } from "../values/collection.js";
import {
  Bytes,
  type CelValue,
  Duration,
  Failure,
  NO_SUCH_OVERLOAD,
  Optional,
  Timestamp,
  Uint,
} from "../values/value.js";
import { declare, type FunctionDeclaration, method, overload } from "./declaration.js";

const V = parameter("V");
const OPTIONAL = optionalOf(V);
const OPTIONALS = listOf(OPTIONAL);

export const optionals: readonly FunctionDeclaration[] = [
  declare("optional.of", [overload("optional_of", [V], OPTIONAL, (value) => new Optional(value))]),
  declare("optional.ofNonZeroValue", [
    overload("optional_ofNonZeroValue", [V], OPTIONAL, (value) =>
      isZero(value!) ? Optional.none : new Optional(value),
    ),
  ]),
  declare("optional.none", [overload("optional_none", [], OPTIONAL, () => Optional.none)]),
  declare("optional.unwrap", [overload("optional_unwrap", [OPTIONALS], listOf(V), unwrapped)]),
  declare("unwrapOpt", [method("optional_unwrapOpt", [OPTIONALS], listOf(V), unwrapped)]),
  declare("hasValue", [
    method("optional_hasValue", [OPTIONAL], BOOL, (optional) => (optional as Optional).value !== undefined),
  ]),
  declare("value", [
    method("optional_value", [OPTIONAL], V, (optional) => {
      const { value } = optional as Optional;
      return value === undefined ? new Failure("optional.none() dereference") : value;
    }),
  ]),
  // The evaluator implements these two, because they do not always need the second operand.
  declare("or", [method("optional_or_optional", [OPTIONAL, OPTIONAL], OPTIONAL)]),
  declare("orValue", [method("optional_orValue_value", [OPTIONAL, V], V)]),
  declare("first", [method("list_first", [listOf(V)], OPTIONAL, (list) => new Optional((list as ListValue).at(0)))]),
  declare("last", [
    method("list_last", [listOf(V)], OPTIONAL, (list) => new Optional((list as ListValue).items.at(-1))),
  ]),
];

function unwrapped(list: CelValue): CelValue {
  const values: CelValue[] = [];
  for (const item of (list as ListValue).items) {
    if (!(item instanceof Optional)) return NO_SUCH_OVERLOAD;
    if (item.value !== undefined) values.push(item.value);
  }
  return new ListValue(values);
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === "" || value === 0 || value === 0n) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.nanos === -62135596800n * 1_000_000_000n;
  if (value instanceof Optional) return value.value === undefined;
  if (value instanceof Bytes) return value.value.length === 0;
  if (value instanceof ListValue) return value.length === 0;
  return value instanceof MapValue && value.size === 0;
}
