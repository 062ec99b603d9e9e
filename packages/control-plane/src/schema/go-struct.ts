import type { Json, JsonObject, MutableJsonObject } from "../api/json.js";
import { perObject } from "../api/memoized.js";
import type { FieldType, Message, MessageField } from "../facts/message.js";

/** The JSON of a zero Go struct: nested structs, and fields that Go never omits. */
export const zeroStruct = perObject((message: Message): JsonObject => {
  const object: MutableJsonObject = {};
  for (const field of message.fields) addZero(object, field);
  return object;
});

function addZero(object: MutableJsonObject, field: MessageField): void {
  if (field.json === "") {
    if (field.type.kind === "message") Object.assign(object, zeroStruct(field.type.message));
    return;
  }
  const value = zeroValue(field.type);
  // `omitempty` never omits a struct, even one with its own marshaller.
  const isStruct = field.type.kind === "message" || field.type.kind === "special";
  if (field.omit === "never" || (field.omit === "empty" && isStruct)) object[field.json] = value;
}

/** The JSON of a zero Go value of the type. */
export function zeroValue(type: FieldType): Json {
  switch (type.kind) {
    case "message":
      return zeroStruct(type.message);
    case "scalar":
      if (type.scalar === "string") return "";
      if (type.scalar === "bool") return false;
      return type.scalar === "bytes" ? null : 0;
    case "special":
      if (type.special === "Quantity") return "0";
      if (type.special === "IntOrString") return 0;
      return type.special === "Duration" ? "0s" : null;
    default:
      return null;
  }
}
