import type { Patch } from "../../client/client.js";
import { isRecord, joinPath } from "./field-paths.js";

/** How many paths of one patch the timeline keeps. */
const MAX_PATHS = 20;

/** The fields that a patch writes, without their values. Preconditions are not writes. */
export function patchedPaths(patch: Patch): readonly string[] {
  const paths =
    patch.type === "json"
      ? patch.operations.filter(({ op }) => op !== "test").map(({ path }) => fromPointer(path))
      : leaves(patch.body, "");
  return paths.filter((path) => path !== "metadata.resourceVersion" && path !== "metadata.uid").slice(0, MAX_PATHS);
}

/** The parts of a patch in `data` and `stringData`, with values, each as an object. */
export function patchedParts(patch: Patch): readonly unknown[] {
  if (patch.type !== "json") return [patch.body];
  return patch.operations.flatMap((operation) => {
    const [, field, key] = operation.path.split("/");
    if (!("value" in operation) || (field !== "data" && field !== "stringData")) return [];
    return [{ [field]: key === undefined ? operation.value : { [key]: operation.value } }];
  });
}

function leaves(value: unknown, path: string): readonly string[] {
  if (!isRecord(value) || Object.keys(value).length === 0) return path === "" ? [] : [path];
  return Object.entries(value).flatMap(([field, part]) => leaves(part, joinPath(path, field)));
}

function fromPointer(pointer: string): string {
  const fields = pointer.split("/").slice(1);
  return fields.reduce((path, field) => joinPath(path, field.replaceAll("~1", "/").replaceAll("~0", "~")), "");
}
