import { BYTES, INT, listOf, mapOf, parameter, STRING } from "../types/type.js";
import { ListValue, MapValue } from "../values/collection.js";
import { Bytes, Failure } from "../values/value.js";
import { sizeOf } from "../values/value-type.js";
import { declare, type FunctionDeclaration, method, overload } from "./declaration.js";

const LIST = listOf(parameter("A"));
const MAP = mapOf(parameter("A"), parameter("B"));

export const sizes: readonly FunctionDeclaration[] = [
  declare(
    "size",
    [
      overload("size_bytes", [BYTES], INT),
      method("bytes_size", [BYTES], INT),
      overload("size_list", [LIST], INT),
      method("list_size", [LIST], INT),
      overload("size_map", [MAP], INT),
      method("map_size", [MAP], INT),
      overload("size_string", [STRING], INT),
      method("string_size", [STRING], INT),
    ],
    {
      apply: (value) => {
        const isSized =
          typeof value === "string" || [Bytes, ListValue, MapValue].some((type) => (value as object) instanceof type);
        return isSized ? BigInt(sizeOf(value!)) : new Failure("no such overload: size");
      },
    },
  ),
];
