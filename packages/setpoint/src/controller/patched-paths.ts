import type { Patch } from "../client/client.js";
import { isRecord, joinPath } from "./field-paths.js";

/** How many paths of one patch are kept for the timeline. */
const MAX_PATHS = 20;

/** The fields that a patch names, without their values; preconditions are no writes. */
export function patchedPaths(patch: Patch): readonly string[] {
  const paths =
    patch.type === "json"
      ? patch.operations.filter(({ op }) => op !== "test").map(({ path }) => fromPointer(path))
      : leaves(patch.body, "");
  return paths.filter((path) => path !== "metadata.resourceVersion" && path !== "metadata.uid").slice(0, MAX_PATHS);
}

function leaves(value: unknown, path: string): readonly string[] {
  if (!isRecord(value) || Object.keys(value).length === 0) return path === "" ? [] : [path];
  return Object.entries(value).flatMap(([field, part]) => leaves(part, joinPath(path, field)));
}

function fromPointer(pointer: string): string {
  const fields = pointer.split("/").slice(1);
  return fields.reduce((path, field) => joinPath(path, field.replaceAll("~1", "/").replaceAll("~0", "~")), "");
}
