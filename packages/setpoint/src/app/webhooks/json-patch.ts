import type { JsonPatchOperation } from "../../client/client.js";
import { ownField } from "../../kinds/own-field.js";

/**
 * The operations (RFC 6902) that turn `from` into `to`; none if they are equal. Undefined fields count as absent. Lists
 * are compared by position, without moves: the patch may be long, but the result is exact.
 */
export function jsonPatch(from: unknown, to: unknown, path = ""): readonly JsonPatchOperation[] {
  if (Object.is(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) return listPatch(from, to, path);
  if (isRecord(from) && isRecord(to)) return recordPatch(from, to, path);
  return [{ op: "replace", path, value: to }];
}

type JsonRecord = Readonly<Record<string, unknown>>;

function recordPatch(from: JsonRecord, to: JsonRecord, path: string): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  for (const name of Object.keys(from)) {
    if (from[name] !== undefined && ownField(to, name) === undefined)
      operations.push({ op: "remove", path: step(path, name) });
  }
  for (const [name, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const before = ownField(from, name);
    if (before === undefined) operations.push({ op: "add", path: step(path, name), value });
    else operations.push(...jsonPatch(before, value, step(path, name)));
  }
  return operations;
}

function listPatch(from: readonly unknown[], to: readonly unknown[], path: string): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  const common = Math.min(from.length, to.length);
  for (let at = 0; at < common; at++) operations.push(...jsonPatch(from[at], to[at], `${path}/${at}`));
  // From the end, so that earlier positions stay valid.
  for (let at = from.length - 1; at >= common; at--) operations.push({ op: "remove", path: `${path}/${at}` });
  for (let at = common; at < to.length; at++) operations.push({ op: "add", path: `${path}/-`, value: to[at] });
  return operations;
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function step(path: string, name: string): string {
  return `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
