import { StatusError } from "../registry/status-error.js";
import { checkDepth } from "../schema/depth.js";
import { deepEqual, field, isArray, isObject, type Json, type JsonObject, withField } from "../schema/json.js";

const MAX_OPERATIONS = 10_000;
const MEMBERS = ["op", "path", "from", "value"];

/** An operation that does not apply; the client only learns that one did not. */
class OperationError extends Error {}

/**
 * The object with an RFC 6902 patch applied, all of it or none. Throws a 400 for what is no patch, a 413 for too many
 * operations, a 422 where an operation does not apply.
 */
export function jsonPatch(object: JsonObject, patch: Json): Json {
  const operations = decode(patch);
  let result: Json = object;
  try {
    for (const operation of operations) result = applyOperation(result, operation);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
  checkDepth(result);
  return result;
}

/** What strict field validation says of the patch itself. */
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

function applyOperation(document: Json, operation: JsonObject): Json {
  const path = text(operation, "path");
  const value = field(operation, "value") ?? null;
  switch (field(operation, "op")) {
    case "add":
      return change(document, path, (parent, key) => add(parent, key, value));
    case "remove":
      return change(document, path, remove);
    case "replace":
      if (path !== "") return change(document, path, (parent, key) => replace(parent, key, value));
      if (typeof value !== "object") throw new OperationError("replace operation value must be object or array");
      return value;
    case "test":
      if (!deepEqual(path === "" ? document : (get(document, path) ?? null), value)) {
        throw new OperationError(`testing value ${path} failed: test failed`);
      }
      return document;
    case "move": {
      const from = text(operation, "from");
      const moved = get(document, from) ?? null;
      return change(change(document, from, remove), path, (parent, key) => add(parent, key, moved));
    }
    case "copy": {
      const copied = get(document, text(operation, "from")) ?? null;
      return change(document, path, (parent, key) => add(parent, key, copied));
    }
    default:
      throw new OperationError(`Unexpected kind: ${operation.op}`);
  }
}

function text(operation: JsonObject, member: string): string {
  const value = field(operation, member);
  if (typeof value !== "string") throw new OperationError(`operation missing ${member} field: missing value`);
  return value;
}

function keysOf(path: string): string[] {
  const parts = path.split("/");
  if (parts.length < 2) throw new OperationError(`doc is missing path: "${path}": missing value`);
  return parts.slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Undefined for a field that is not there; an index that is not there is an error. */
function get(document: Json, path: string): Json | undefined {
  const keys = keysOf(path);
  let parent = document;
  for (const key of keys.slice(0, -1)) parent = child(parent, key, path);
  return member(parent, keys.at(-1)!, path);
}

/** The document with the container at the path's end changed. */
function change(document: Json, path: string, edit: (parent: JsonObject | readonly Json[], key: string) => Json): Json {
  const keys = keysOf(path);
  const last = keys.pop()!;
  const parents: Json[] = [document];
  for (const key of keys) parents.push(child(parents.at(-1)!, key, path));
  const container = parents.at(-1)!;
  if (typeof container !== "object" || container === null) throw missing(path);
  let result = edit(container as JsonObject | readonly Json[], last);
  for (let index = keys.length - 1; index >= 0; index--) {
    const parent = parents[index]!;
    const key = keys[index]!;
    result = isArray(parent) ? parent.with(indexOf(parent, key), result) : withField(parent as JsonObject, key, result);
  }
  return result;
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

/** The place of an item that is there; from the end where it is negative. */
function indexOf(array: readonly Json[], key: string): number {
  const index = parseIndex(key);
  if (index >= array.length || index < -array.length) {
    throw new OperationError(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return index < 0 ? index + array.length : index;
}

function parseIndex(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw new OperationError(`strconv.Atoi: parsing "${key}": invalid syntax`);
  return Number(key);
}

function add(parent: JsonObject | readonly Json[], key: string, value: Json): Json {
  if (!isArray(parent)) return withField(parent as JsonObject, key, value);
  if (key === "-") return [...parent, value];
  const index = parseIndex(key);
  const size = parent.length + 1;
  if (index >= size || index < -size) {
    throw new OperationError(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return parent.toSpliced(index < 0 ? index + size : index, 0, value);
}

function remove(parent: JsonObject | readonly Json[], key: string): Json {
  if (isArray(parent)) return parent.toSpliced(indexOf(parent, key), 1);
  if (!Object.hasOwn(parent, key)) {
    throw new OperationError(`Unable to remove nonexistent key: ${key}: missing value`);
  }
  const { ...copy } = parent as JsonObject;
  delete (copy as Record<string, Json>)[key];
  return copy;
}

function replace(parent: JsonObject | readonly Json[], key: string, value: Json): Json {
  return isArray(parent) ? parent.with(indexOf(parent, key), value) : withField(parent as JsonObject, key, value);
}
