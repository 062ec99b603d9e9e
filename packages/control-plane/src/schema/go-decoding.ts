import { isSameJson } from "setpoint/kinds";
import { BoundedTexts } from "../api/error-budget.js";
import { isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import { perObject } from "../api/memoized.js";
import type { FieldType, Message, MessageField, Scalar, Special } from "../facts/message.js";
import { zeroStruct, zeroValue } from "./go-struct.js";
import { canonicalDuration, canonicalTime, TimeError } from "./go-time.js";
import { canonicalQuantity, QuantityError } from "./quantity.js";

export interface Decoded {
  readonly object: JsonObject;
  /** Unknown fields, as many as a response names: `spec.zzz`, `spec.containers[0].zzz`. */
  readonly unknown: readonly string[];
}

/** A body that Go cannot decode into the kind. The message is what kube-apiserver says after the kind's name. */
export class DecodingError extends Error {}

/**
 * Decodes an object of a built-in kind and encodes it again, as kube-apiserver does: fields in struct order, without
 * unknown fields and without the empty fields that Go omits. Quantities, times and durations become canonical.
 *
 * `known` is an already decoded object of the kind. A part of `value` that is identical to the part of `known` at the
 * same place is reused, because an update leaves most of an object unchanged.
 */
export function decodeStruct(message: Message, value: Json, known?: JsonObject): Decoded {
  if (!isObject(value)) {
    throw new DecodingError(`json: cannot unmarshal ${jsonType(value)} into Go value of type ${structName(message)}`);
  }
  const reader = new StructReader();
  const { kind, apiVersion } = value;
  const object: MutableJsonObject = {};
  if (typeof kind === "string") object.kind = kind;
  if (typeof apiVersion === "string") object.apiVersion = apiVersion;
  const { object: fields, unknown } = reader.root(message, value, IDENTITY, known);
  return { object: Object.assign(object, fields), unknown };
}

/** Decodes a stand-alone struct, such as an ObjectMeta. */
export function decodePart(message: Message, value: JsonObject): Decoded {
  return new StructReader().root(message, value);
}

const NONE: ReadonlySet<string> = new Set();
const IDENTITY: ReadonlySet<string> = new Set(["kind", "apiVersion"]);

/** A field of a struct, or of a struct that is inlined in it. */
interface PlannedField {
  readonly field: MessageField;
  /** Position in the plan. */
  readonly index: number;
  /** The name in errors, prefixed with the names of inlined structs. */
  readonly name: string;
  /** Keeps an empty list or map: the field itself, or the named field of the struct that it holds. */
  readonly keepsEmpty?: true | string;
  /** The value written if the body lacks the field or has null; undefined if none is written. */
  readonly whenAbsent?: Json;
  /**
   * The scalar that the field holds, directly or by pointer. A fast path: most fields are scalars with valid values.
   */
  readonly scalar?: Scalar;
}

/**
 * Lists and maps that kube-apiserver rejects if they are present but empty. It treats other empty ones like absent
 * ones. None of these is ever stored empty: RuntimeClass admission decides on the overhead of a pod.
 */
const REFUSED_EMPTY: ReadonlyMap<string, true | string> = new Map<string, true | string>([
  ["io.k8s.api.autoscaling.v2.HPAScalingRules/policies", true],
  ["io.k8s.api.core.v1.PersistentVolumeSpec/capacity", true],
  ["io.k8s.api.core.v1.Pod/spec", "overhead"],
  ["io.k8s.api.core.v1.PodSpec/resources", "claims"],
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps/dependencies", true],
]);

interface StructPlan {
  readonly fields: readonly PlannedField[];
  readonly byName: ReadonlyMap<string, PlannedField>;
}

const planOf = perObject((message: Message): StructPlan => {
  const fields = message.fields
    .flatMap((field): readonly Omit<PlannedField, "index">[] => {
      const keepsEmpty = REFUSED_EMPTY.get(`${message.name}/${field.json}`);
      if (field.json !== "" || field.type.kind !== "message") {
        const whenAbsent = isWrittenAbsent(field) ? zeroValue(field.type) : undefined;
        const held = field.type.kind === "pointer" ? field.type.to : field.type;
        return [
          {
            field,
            name: field.json,
            ...(keepsEmpty && { keepsEmpty }),
            ...(whenAbsent !== undefined && { whenAbsent }),
            ...(held.kind === "scalar" && { scalar: held.scalar }),
          },
        ];
      }
      return planOf(field.type.message).fields.map((inner) => ({ ...inner, name: `${field.goName}.${inner.name}` }));
    })
    .map((planned, index) => ({ ...planned, index }));
  return { fields, byName: new Map(fields.map((planned) => [planned.field.json, planned])) };
});

/**
 * Decodes as Go does: remembers the first type mismatch and continues. A type with its own unmarshaller stops
 * decoding.
 */
class StructReader {
  readonly unknown = new BoundedTexts();
  /** The keys and indexes on the current path, to name unknown fields. */
  readonly #path: (string | number)[] = [];
  /** The struct fields on the current path, and the innermost struct, to word errors. */
  readonly #names: string[] = [];
  #struct: Message | undefined;
  #mismatch: DecodingError | undefined;

  /** Decodes the outermost struct. */
  root(message: Message, value: JsonObject, alsoKnown: ReadonlySet<string> = NONE, known?: JsonObject): Decoded {
    const object = this.#read(message, value, alsoKnown, known);
    if (this.#mismatch !== undefined) throw this.#mismatch;
    return { object, unknown: this.unknown.texts };
  }

  #read(message: Message, value: JsonObject, alsoKnown: ReadonlySet<string> = NONE, known?: Json): JsonObject {
    const outer = this.#struct;
    this.#struct = message;
    const { fields, byName } = planOf(message);
    const read: (Json | undefined)[] = [];
    const before = isObject(known) ? known : undefined;
    for (const key in value) {
      const planned = byName.get(key);
      if (planned === undefined) {
        if (!this.unknown.isFull && !alsoKnown.has(key)) this.unknown.add(pathText([...this.#path, key]));
        continue;
      }
      if (value[key] === null) continue;
      const part = before?.[key];
      const isKnown = part !== undefined && part === value[key];
      if (isKnown || isPlain(planned.scalar, value[key]!)) {
        read[planned.index] = value[key];
        continue;
      }
      this.#path.push(key);
      this.#names.push(planned.name);
      const given = this.value(planned.field.type, value[key]!, message, part);
      read[planned.index] =
        typeof planned.keepsEmpty === "string" ? withEmpty(given, value[key]!, planned.keepsEmpty) : given;
      this.#names.pop();
      this.#path.pop();
    }
    const result: MutableJsonObject = {};
    for (let index = 0; index < fields.length; index++) {
      const { field, keepsEmpty, whenAbsent } = fields[index]!;
      const given = read[index];
      if (given === undefined) {
        if (whenAbsent !== undefined) result[field.json] = whenAbsent;
      } else if (keepsEmpty === true || !isOmitted(field, given)) result[field.json] = given;
    }
    this.#struct = outer;
    return result;
  }

  value(type: FieldType, value: Json, owner: Message, known?: Json): Json {
    if (value === null) return zeroValue(type);
    switch (type.kind) {
      case "scalar":
        return this.#scalar(type, value);
      case "special":
        return this.#special(type.special, value, owner);
      case "pointer":
        return this.value(type.to, value, owner, known);
      case "message":
        if (!isObject(value)) return this.#reject(type, jsonType(value), structName(type.message));
        return this.#read(type.message, value, NONE, known);
      case "list":
      case "wrapped-list":
        return this.#list(type, value, owner, undefined, known);
      case "map":
        return this.#map(type, value, owner);
    }
  }

  #list(
    type: FieldType & { kind: "list" | "wrapped-list" },
    value: Json,
    owner: Message,
    name?: string,
    known?: Json,
  ): Json {
    if (!isArray(value)) return this.#reject(type, jsonType(value), name ?? typeName(type));
    const before = isArray(known) ? known : [];
    return value.map((item, index) => {
      if (item !== null && item === before[index]) return item;
      this.#path.push(index);
      const read = this.value(type.of, item, owner, before[index]);
      this.#path.pop();
      return read;
    });
  }

  #map(type: FieldType & { kind: "map" }, value: Json, owner: Message): Json {
    if (!isObject(value)) return this.#reject(type, jsonType(value), typeName(type));
    // Fast path for labels, annotations and data: most maps need no change.
    if (type.of.kind === "scalar" && type.of.scalar === "string" && isOrderedText(value)) return value;
    const isExtra = type.of.kind === "wrapped-list" || type.of.kind === "list";
    const result: MutableJsonObject = {};
    for (const key of Object.keys(value).sort()) {
      this.#path.push(key);
      const given = value[key]!;
      const item =
        isExtra && given !== null
          ? this.#list(type.of as FieldType & { kind: "list" }, given, owner, EXTRA_VALUE)
          : this.value(type.of, given, owner);
      setField(result, key, isResourceList(type, owner) ? canonicalQuantity(String(item), THOUSANDTHS) : item);
      this.#path.pop();
    }
    return result;
  }

  #scalar(type: FieldType & { kind: "scalar" }, value: Json): Json {
    switch (type.scalar) {
      case "string":
        return typeof value === "string" ? value : this.#reject(type, jsonType(value), "string");
      case "bool":
        return typeof value === "boolean" ? value : this.#reject(type, jsonType(value), "bool");
      case "float64":
        return typeof value === "number" ? value : this.#reject(type, jsonType(value), "float64");
      case "int32":
      case "int64": {
        if (typeof value !== "number") return this.#reject(type, jsonType(value), type.scalar);
        const limit = type.scalar === "int32" ? 2 ** 31 : 2 ** 63;
        if (Number.isInteger(value) && value >= -limit && value < limit) return value;
        return this.#reject(type, `number ${value}`, type.scalar);
      }
      case "bytes":
        if (typeof value === "string") return canonicalBase64(value);
        return isArray(value) ? this.#bytes(type, value) : this.#reject(type, jsonType(value), "[]uint8");
    }
  }

  /** Bytes may also be a list of numbers. */
  #bytes(type: FieldType & { kind: "scalar" }, value: readonly Json[]): Json {
    for (const item of value) {
      if (typeof item === "number" && Number.isInteger(item) && item >= 0 && item < 256) continue;
      if (item !== null) this.#reject(type, typeof item === "number" ? `number ${item}` : jsonType(item), "uint8");
    }
    return Buffer.from(value.map(Number)).toString("base64");
  }

  #special(special: Special, value: Json, owner: Message): Json {
    switch (special) {
      case "Quantity":
        if (typeof value !== "string" && typeof value !== "number") throw new DecodingError(QUANTITY_PATTERN);
        return translated(() => canonicalQuantity(String(value)));
      case "IntOrString":
        if (typeof value === "string") return value;
        if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value;
        throw this.#error(typeof value === "number" ? `number ${value}` : jsonType(value), "int32");
      case "Time":
      case "MicroTime":
        if (typeof value !== "string") throw this.#error(jsonType(value), "string");
        return translated(() => canonicalTime(value, special === "Time" ? 0 : 6));
      case "Duration":
        if (typeof value !== "string") throw this.#error(jsonType(value), "string");
        return translated(() => canonicalDuration(value));
      case "SchemaOrBool":
        return isObject(value) ? this.#read(owner, value) : value;
      case "SchemaOrArray":
        return isObject(value) ? this.#read(owner, value) : value;
      default:
        return value;
    }
  }

  #reject(type: FieldType, found: string, expected: string): Json {
    this.#mismatch ??= this.#error(found, expected);
    return zeroValue(type);
  }

  #error(found: string, expected: string): DecodingError {
    const struct = this.#struct?.name ?? "";
    const field = `${struct.slice(struct.lastIndexOf(".") + 1)}.${this.#names.join(".")}`;
    return new DecodingError(`json: cannot unmarshal ${found} into Go struct field ${field} of type ${expected}`);
  }
}

/** `spec.containers[0].name` */
function pathText(path: readonly (string | number)[]): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}

function withEmpty(read: Json, given: Json, name: string): Json {
  const part = isObject(given) ? given[name] : undefined;
  if (!isObject(read) || typeof part !== "object" || part === null) return read;
  return Object.keys(part).length === 0 ? { ...read, [name]: part } : read;
}

/** Whether all values are strings and the keys are sorted. */
function isOrderedText(value: JsonObject): boolean {
  let previous: string | undefined;
  for (const key in value) {
    if (typeof value[key] !== "string" || (previous !== undefined && previous > key)) return false;
    previous = key;
  }
  return true;
}

/** Resource lists are rounded up to thousandths. */
const THOUSANDTHS = -3;

/** Capacities in the `resource.k8s.io` group are maps of quantities too, but not resource lists. */
function isResourceList(type: FieldType & { kind: "map" }, owner: Message): boolean {
  const isOfQuantities = type.of.kind === "special" && type.of.special === "Quantity";
  return isOfQuantities && !owner.name.startsWith("io.k8s.api.resource.");
}

const QUANTITY_PATTERN = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Whether Go writes a field that the body lacks or has as null. */
function isWrittenAbsent({ type, omit }: MessageField): boolean {
  const isStruct = type.kind === "message" || type.kind === "special";
  return isStruct ? omit !== "zero" : omit === "never";
}

/** Whether a value is valid unchanged for a string or boolean field. */
function isPlain(scalar: Scalar | undefined, value: Json): boolean {
  return scalar === "string" ? typeof value === "string" : scalar === "bool" && typeof value === "boolean";
}

function isOmitted(field: MessageField, value: Json): boolean {
  if (field.omit === "never") return false;
  switch (field.type.kind) {
    case "pointer":
      return value === null;
    case "message":
      return field.omit === "zero" && isSameJson(value, zeroStruct(field.type.message));
    case "special":
      return field.omit === "zero" && (value === null || isSameJson(value, zeroValue(field.type)));
    case "list":
    case "wrapped-list":
      return value === null || (value as readonly Json[]).length === 0;
    case "map":
      return value === null || Object.keys(value as JsonObject).length === 0;
    case "scalar":
      return value === "" || value === 0 || value === false || value === null;
  }
}

function typeName(type: FieldType): string {
  switch (type.kind) {
    case "scalar":
      return type.scalar === "bytes" ? "[]uint8" : type.scalar;
    case "special":
      return SPECIAL_NAMES[type.special];
    case "message":
      return structName(type.message);
    case "pointer":
      return `*${typeName(type.to)}`;
    case "map":
      return NAMED_MAPS[typeName(type.of)] ?? `map[string]${typeName(type.of)}`;
    default:
      return `[]${typeName(type.of)}`;
  }
}

/** Go's name for a list that is a map value. There is only one such type. */
const EXTRA_VALUE = "v1.ExtraValue";

/** Go's names for maps, by the type of their values. */
const NAMED_MAPS: Readonly<Record<string, string>> = {
  "resource.Quantity": "v1.ResourceList",
  "[]string": `map[string]${EXTRA_VALUE}`,
};

const SPECIAL_NAMES: Readonly<Record<Special, string>> = {
  Time: "v1.Time",
  MicroTime: "v1.MicroTime",
  Duration: "v1.Duration",
  FieldsV1: "v1.FieldsV1",
  Quantity: "resource.Quantity",
  IntOrString: "intstr.IntOrString",
  RawExtension: "runtime.RawExtension",
  JSON: "v1.JSON",
  SchemaOrBool: "v1.JSONSchemaPropsOrBool",
  SchemaOrArray: "v1.JSONSchemaPropsOrArray",
  SchemaOrStrings: "v1.JSONSchemaPropsOrStringArray",
};

/** `v1.PodSpec` for `io.k8s.api.core.v1.PodSpec`. */
function structName(message: Message): string {
  return message.name.split(".").slice(-2).join(".");
}

function jsonType(value: Json): string {
  if (isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function canonicalBase64(text: string): string {
  const canonical = Buffer.from(text, "base64").toString("base64");
  if (canonical === text.replace(/[\r\n]/g, "")) return canonical;
  throw new DecodingError(`illegal base64 data at input byte ${base64Fault(text)}`);
}

/** Where Go stops decoding base64: at an invalid character, or at the last group if it is too short. */
function base64Fault(text: string): number {
  let digits = 0;
  let groupStart = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === "\r" || character === "\n") continue;
    if (character === "=") return paddingFault(text, at, digits % 4);
    if (!/[A-Za-z0-9+/]/.test(character)) return at;
    if (digits++ % 4 === 0) groupStart = at;
  }
  return groupStart;
}

function paddingFault(text: string, at: number, digits: number): number {
  if (digits < 2) return at;
  let end = at + 1;
  if (digits === 2) {
    while (text[end] === "\r" || text[end] === "\n") end++;
    if (end >= text.length) return text.length;
    if (text[end] !== "=") return end - 1;
    end++;
  }
  return end;
}

function translated<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof QuantityError || error instanceof TimeError) throw new DecodingError(error.message);
    throw error;
  }
}
