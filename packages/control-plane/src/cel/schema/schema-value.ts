import { isSameJson } from "setpoint/kinds";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import type { Schema } from "../../facts/schema.js";
import { ListValue, MapValue } from "../values/collection.js";
import { type Comparable, equal, equalLists } from "../values/equality.js";
import { parseDuration, parseTimestamp } from "../values/time.js";
import { Bytes, type CelValue, Failure, NO_SUCH_OVERLOAD } from "../values/value.js";
import { withObjectMeta } from "./declared-type.js";
import { escapedName, unescapedName } from "./field-name.js";

/** JSON as expressions see it through its schema. Converts nested values on access. */
export function schemaValue(schema: Schema, value: Json): CelValue {
  if (value === null) {
    return schema.nullable ? null : new Failure("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"]) {
    if (typeof value === "string") return value;
    if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
    return new Failure("invalid data, expected XIntOrString value to be either a string or integer");
  }
  switch (schema.type) {
    case "object":
      if (!isObject(value)) return invalid("a map for the provided schema with type=object");
      return new SchemaObject(schema["x-kubernetes-embedded-resource"] ? withObjectMeta(schema) : schema, value);
    case "array":
      if (!isArray(value)) return invalid("an array for the provided schema with type=array");
      return schemaList(schema, value);
    case "string":
      return typeof value === "string" ? text(schema, value) : invalid("string");
    case "number":
      return typeof value === "number" ? value : invalid("float");
    case "integer":
      return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : invalid("int");
    case "boolean":
      return typeof value === "boolean" ? value : invalid("bool");
    default:
      return new PreservedValue(value);
  }
}

function invalid(expected: string): Failure {
  return new Failure(`invalid data, expected ${expected}`);
}

function text({ format }: Schema, value: string): CelValue {
  switch (format) {
    case "date":
      return parseTimestamp(`${value}T00:00:00Z`) ?? new Failure(`Invalid date formatted string ${value}`);
    case "date-time":
      return parseTimestamp(value.toUpperCase()) ?? new Failure(`Invalid date-time formatted string ${value}`);
    case "duration":
      return parseDuration(value) ?? new Failure(`Invalid duration ${value}`);
    case "byte":
      return new Bytes(Buffer.from(value, "base64"));
    default:
      return value;
  }
}

/** Data without a declared type, which supports only equality. */
class PreservedValue extends MapValue implements Comparable {
  readonly size = 0;
  readonly keys: readonly CelValue[] = [];
  readonly #value: Json;

  constructor(value: Json) {
    super();
    this.#value = value;
  }

  get(): undefined {
    return undefined;
  }

  equalTo(other: CelValue): boolean {
    return other instanceof PreservedValue && isSameJson(this.#value, other.#value);
  }
}

/** An object, either with properties (whose names are escaped) or with additional properties. */
class SchemaObject extends MapValue implements Comparable {
  readonly #schema: Schema;
  readonly #value: JsonObject;
  readonly #converted = new Map<string, CelValue>();

  constructor(schema: Schema, value: JsonObject) {
    super();
    this.#schema = schema;
    this.#value = value;
  }

  override get goType(): string {
    return "*common.unstructuredMap";
  }

  get size(): number {
    return Object.keys(this.#value).length;
  }

  get keys(): readonly CelValue[] {
    const isObject = this.#schema.properties !== undefined;
    return Object.keys(this.#value)
      .filter((key) => this.#schemaOf(key) !== undefined)
      .map((key) => (isObject ? (escapedName(key) ?? key) : key));
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    const known = this.#converted.get(key);
    if (known !== undefined) return known;
    const hasFields = this.#schema.properties !== undefined;
    const name = hasFields ? unescapedName(key) : key;
    if (name === undefined || !Object.hasOwn(this.#value, name)) return undefined;
    const value = this.#value[name]!;
    // A null field counts as absent.
    if (hasFields && value === null) return undefined;
    const schema = this.#schemaOf(name);
    if (schema === undefined) return undefined;
    const converted = schemaValue(schema, value);
    this.#converted.set(key, converted);
    return converted;
  }

  equalTo(other: CelValue): boolean | Failure {
    if (!(other instanceof MapValue)) return NO_SUCH_OVERLOAD;
    if (this.size !== other.size) return false;
    for (const [key, value] of Object.entries(this.#value)) {
      if (this.#schemaOf(key) === undefined) {
        if (!(other instanceof SchemaObject)) return NO_SUCH_OVERLOAD;
        if (Object.hasOwn(other.#value, key) && !isSameJson(value, other.#value[key])) return false;
        continue;
      }
      const [own, others] = [this.get(key), other.get(key)];
      if ((own === undefined) !== (others === undefined)) return false;
      if (own === undefined) continue;
      if (own instanceof Failure) return own;
      const result = equal(own, others!);
      if (result !== true) return result;
    }
    return true;
  }

  #schemaOf(name: string): Schema | undefined {
    const { properties, additionalProperties } = this.#schema;
    if (properties !== undefined) return Object.hasOwn(properties, name) ? properties[name] : undefined;
    return typeof additionalProperties === "object" ? additionalProperties : undefined;
  }
}

function schemaList(schema: Schema, value: readonly Json[]): CelValue {
  const { items } = schema;
  if (items === undefined) return new Failure("invalid array type, expected Items with a non-empty Schema");
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return new SetList(new SchemaList(items, value));
    case "map":
      return new MapList(new SchemaList(items, value), schema["x-kubernetes-list-map-keys"] ?? []);
    default:
      return new AtomicList(new SchemaList(items, value));
  }
}

/** The items of a list, converted by their schema. */
class SchemaList extends ListValue {
  readonly #schema: Schema;
  readonly #json: readonly Json[];
  #converted: readonly CelValue[] | undefined;

  constructor(schema: Schema, json: readonly Json[]) {
    super([]);
    this.#schema = schema;
    this.#json = json;
  }

  override get items(): readonly CelValue[] {
    return (this.#converted ??= this.#json.map((item) => schemaValue(this.#schema, item)));
  }

  override get length(): number {
    return this.#json.length;
  }

  override at(index: number): CelValue | undefined {
    return this.items[index];
  }
}

/** A list with a list type. A sum keeps the list type of its left operand. */
abstract class MeantList extends ListValue implements Comparable {
  readonly #list: ListValue;

  constructor(list: ListValue) {
    super([]);
    this.#list = list;
  }

  override get items(): readonly CelValue[] {
    return this.#list.items;
  }

  override get length(): number {
    return this.#list.length;
  }

  override at(index: number): CelValue | undefined {
    return this.#list.at(index);
  }

  abstract equalTo(other: CelValue): boolean | Failure;
}

class AtomicList extends MeantList {
  override get goType(): string {
    return "*common.unstructuredList";
  }

  equalTo(other: CelValue): boolean | Failure {
    return other instanceof ListValue ? equalLists(this, other) : NO_SUCH_OVERLOAD;
  }

  override plus(other: ListValue): CelValue {
    return new AtomicList(new ListValue([...this.items, ...other.items]));
  }
}

/** Order does not matter, and a sum contains each item once. */
class SetList extends MeantList {
  override get goType(): string {
    return "*common.unstructuredSetList";
  }

  equalTo(other: CelValue): boolean | Failure {
    if (!(other instanceof ListValue)) return NO_SUCH_OVERLOAD;
    return this.length === other.length && other.items.every((item) => isIn(this, item));
  }

  override plus(other: ListValue): CelValue {
    const items = [...this.items];
    for (const item of other.items) if (!isIn(new ListValue(items), item)) items.push(item);
    return new SetList(new ListValue(items));
  }
}

/**
 * Items are identified by their keys. Order does not matter, and in a sum added items replace those with the same
 * keys.
 */
class MapList extends MeantList {
  readonly #keys: readonly string[];

  constructor(list: ListValue, keys: readonly string[]) {
    super(list);
    this.#keys = keys;
  }

  override get goType(): string {
    return "*common.unstructuredMapList";
  }

  equalTo(other: CelValue): boolean | Failure {
    if (!(other instanceof ListValue)) return NO_SUCH_OVERLOAD;
    if (this.length !== other.length) return false;
    for (const item of other.items) {
      const own = this.items.find((candidate) => this.#isSame(candidate, item));
      if (own === undefined) return false;
      const result = equal(own, item);
      if (result !== true) return result;
    }
    return true;
  }

  /** Two added items with the same keys both stay. */
  override plus(other: ListValue): CelValue {
    const before = this.items;
    const items = [...before];
    for (const item of other.items) {
      const at = before.findIndex((own) => this.#isSame(own, item));
      if (at < 0) items.push(item);
      else items[at] = item;
    }
    return new MapList(new ListValue(items), this.#keys);
  }

  #isSame(a: CelValue, b: CelValue): boolean {
    return this.#keys.every((key) => {
      const name = escapedName(key) ?? key;
      const [left, right] = [keyOf(a, name), keyOf(b, name)];
      return left === undefined || right === undefined ? left === right : equal(left, right) === true;
    });
  }
}

function keyOf(item: CelValue, name: string): CelValue | undefined {
  return item instanceof MapValue ? item.get(name) : undefined;
}

function isIn(list: ListValue, item: CelValue): boolean {
  return list.items.some((own) => equal(own, item) === true);
}
