import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import { ListValue, MapValue } from "../../cel/values/collection.js";
import type { CelValue } from "../../cel/values/value.js";

/** Converts JSON to a CEL value without a schema. Items and fields are converted on first use. */
export function jsonValue(value: Json): CelValue {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (isArray(value)) return new JsonList(value);
  return isObject(value) ? new JsonMap(value) : (value as null | boolean | string);
}

class JsonList extends ListValue {
  readonly #json: readonly Json[];
  #converted: readonly CelValue[] | undefined;

  constructor(json: readonly Json[]) {
    super([]);
    this.#json = json;
  }

  override get items(): readonly CelValue[] {
    return (this.#converted ??= this.#json.map(jsonValue));
  }

  override get length(): number {
    return this.#json.length;
  }

  override at(index: number): CelValue | undefined {
    return this.items[index];
  }
}

class JsonMap extends MapValue {
  readonly #json: JsonObject;
  readonly #converted = new Map<string, CelValue>();

  constructor(json: JsonObject) {
    super();
    this.#json = json;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  get keys(): readonly CelValue[] {
    return Object.keys(this.#json);
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.#json, key)) return undefined;
    const known = this.#converted.get(key);
    if (known !== undefined) return known;
    const converted = jsonValue(this.#json[key]!);
    this.#converted.set(key, converted);
    return converted;
  }
}
