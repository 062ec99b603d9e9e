import { isSameJson } from "setpoint/kinds";
import { field, isArray, isObject, type Json, type JsonObject, type MutableJsonObject, setField } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import { checkDepth } from "../schema/depth.js";

const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 * 2 ** 20;
const MEMBERS = ["op", "path", "from", "value"];

/** An operation that cannot be applied. The client learns only that one failed. */
class OperationError extends Error {}

/**
 * Applies an RFC 6902 patch, all of it or nothing. Throws a 400 for an invalid patch, a 413 for too many operations,
 * and a 422 if an operation cannot be applied.
 */
export function jsonPatch(object: JsonObject, patch: Json): Json {
  const operations = decode(patch);
  const document = new PatchedDocument(object);
  try {
    for (const operation of operations) document.apply(operation);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
  checkDepth(document.root);
  return document.root;
}

/** Errors of strict field validation in the patch itself. */
export function jsonPatchStrictErrors(patch: Json): readonly string[] {
  if (!isArray(patch)) return [];
  return patch.flatMap((operation, index) =>
    isObject(operation)
      ? Object.keys(operation)
          .filter((member) => !MEMBERS.includes(member))
          .map((member) => `json patch unknown field "[${index}].${member}"`)
      : [],
  );
}

function decode(patch: Json): readonly JsonObject[] {
  if (patch === null) return [];
  const bad = (found: string, type: string): StatusError =>
    new StatusError(
      400,
      "BadRequest",
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type ${type}`,
    );
  if (!isArray(patch)) throw bad(jsonTypeName(patch), "[]handlers.jsonPatchOp");
  const operations = patch.map((operation) => {
    if (operation === null) return {};
    if (!isObject(operation)) throw bad(jsonTypeName(operation), "handlers.jsonPatchOp");
    for (const member of ["op", "path", "from"]) {
      const value = field(operation, member) ?? null;
      if (value !== null && typeof value !== "string") {
        const message = `error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field jsonPatchOp.${member} of type string`;
        throw new StatusError(400, "BadRequest", message);
      }
    }
    return operation;
  });
  if (operations.length > MAX_OPERATIONS) {
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`;
    throw new StatusError(413, "RequestEntityTooLarge", message);
  }
  return operations;
}

function jsonTypeName(value: Json): string {
  if (isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

type Container = MutableJsonObject | Json[];

/** The patched document. Each container is copied before its first change, then changed in place. */
class PatchedDocument {
  root: Json;
  /** Containers that only this document holds, each at one place. */
  readonly #own = new Set<Json>();
  #copiedBytes = 0;

  constructor(root: Json) {
    this.root = root;
  }

  apply(operation: JsonObject): void {
    const path = text(operation, "path");
    const value = field(operation, "value") ?? null;
    switch (field(operation, "op")) {
      case "add":
        this.#add(path, value);
        break;
      case "remove":
        this.#remove(path);
        break;
      case "replace":
        if (path === "") this.#replaceRoot(value);
        else this.#replace(path, value);
        break;
      case "test":
        if (!isSameJson(path === "" ? this.root : (this.#get(path) ?? null), value)) {
          throw new OperationError(`testing value ${path} failed: test failed`);
        }
        break;
      case "move": {
        const from = text(operation, "from");
        const moved = this.#get(from) ?? null;
        this.#remove(from);
        this.#add(path, moved);
        break;
      }
      case "copy":
        this.#add(path, this.#copy(this.#get(text(operation, "from")) ?? null));
        break;
      default:
        throw new OperationError(`Unexpected kind: ${operation.op}`);
    }
  }

  #add(path: string, value: Json): void {
    const [container, key] = this.#change(path);
    if (!isArray(container)) setField(container, key, value);
    else if (key === "-") container.push(value);
    else container.splice(insertionPoint(container, key), 0, value);
  }

  #remove(path: string): void {
    const [container, key] = this.#change(path);
    if (isArray(container)) container.splice(indexOf(container, key), 1);
    else if (Object.hasOwn(container, key)) delete container[key];
    else throw new OperationError(`Unable to remove nonexistent key: ${key}: missing value`);
  }

  #replace(path: string, value: Json): void {
    const [container, key] = this.#change(path);
    if (isArray(container)) container[indexOf(container, key)] = value;
    else setField(container, key, value);
  }

  #replaceRoot(value: Json): void {
    if (typeof value !== "object" || value === null) {
      throw new OperationError("replace operation value must be object or array");
    }
    this.root = value;
  }

  /** A deep copy. The total size of copies is bounded, because copies of copies grow fast. */
  #copy(value: Json): Json {
    const json = JSON.stringify(value);
    this.#copiedBytes += json.length;
    if (this.#copiedBytes > MAX_COPIED_BYTES) {
      throw new OperationError(`the accumulated size increase of copy is ${this.#copiedBytes}`);
    }
    return JSON.parse(json) as Json;
  }

  /** Undefined for a missing field. A missing index is an error. */
  #get(path: string): Json | undefined {
    const keys = keysOf(path);
    let parent = this.root;
    for (const key of keys.slice(0, -1)) parent = child(parent, key, path);
    return member(parent, keys.at(-1)!, path);
  }

  /** The container at the end of the path, copied for a change, and the key in it. */
  #change(path: string): [container: Container, key: string] {
    const keys = keysOf(path);
    const last = keys.pop()!;
    if (typeof this.root !== "object" || this.root === null) throw missing(path);
    let container = this.#owned(this.root);
    this.root = container;
    for (const key of keys) {
      const next = this.#owned(child(container, key, path));
      if (isArray(container)) container[indexOf(container, key)] = next;
      else setField(container, key, next);
      container = next;
    }
    return [container, last];
  }

  #owned(value: Json): Container {
    if (this.#own.has(value)) return value as Container;
    const copy = (isArray(value) ? [...value] : { ...(value as JsonObject) }) as Container;
    this.#own.add(copy);
    return copy;
  }
}

function text(operation: JsonObject, member: string): string {
  const value = field(operation, member);
  if (typeof value !== "string") throw new OperationError(`operation missing ${member} field: missing value`);
  return value;
}

function keysOf(path: string): string[] {
  const parts = path.split("/");
  if (parts.length < 2) throw missing(path);
  return parts.slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function child(parent: Json, key: string, path: string): Json {
  const value = member(parent, key, path);
  if (value === undefined || value === null || typeof value !== "object") throw missing(path);
  return value;
}

function member(parent: Json, key: string, path: string): Json | undefined {
  if (isArray(parent)) return parent[indexOf(parent, key)];
  if (isObject(parent)) return field(parent, key);
  throw missing(path);
}

function missing(path: string): OperationError {
  return new OperationError(`doc is missing path: "${path}": missing value`);
}

/** The position of an existing item. Negative indexes count from the end. */
function indexOf(array: readonly Json[], key: string): number {
  const index = parseIndex(key);
  if (index >= array.length || index < -array.length) throw badIndex(index);
  return index < 0 ? index + array.length : index;
}

/** The position for a new item, which may be just after the end. */
function insertionPoint(array: readonly Json[], key: string): number {
  const index = parseIndex(key);
  const size = array.length + 1;
  if (index >= size || index < -size) throw badIndex(index);
  return index < 0 ? index + size : index;
}

function parseIndex(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw new OperationError(`strconv.Atoi: parsing "${key}": invalid syntax`);
  return Number(key);
}

function badIndex(index: number): OperationError {
  return new OperationError(`Unable to access invalid index: ${index}: invalid index referenced`);
}
