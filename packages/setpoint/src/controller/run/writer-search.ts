import { parseKey } from "../../kinds/kind.js";
import type { ManagedFieldsEntry } from "../../kinds/object.js";
import { isApplied } from "../apply/applied-fields.js";
import { splitPath } from "../apply/field-paths.js";
import type { KindSource } from "../causes/kind-source.js";

/**
 * Another manager of these fields according to the server: caches keep only the entry of the own manager. Undefined if
 * there is none, or the server does not answer.
 */
export async function findWriter(
  source: KindSource,
  key: string,
  paths: readonly string[],
  fieldManager: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace, name } = parseKey(key);
  try {
    const object = await source.cluster.client.find(source.kind, name, { ...(namespace ? { namespace } : {}), signal });
    const others = (object?.metadata.managedFields ?? []).filter(({ manager }) => manager !== fieldManager);
    const owning = others.filter((entry) => paths.some((path) => owns(entry, path)));
    return newest(owning)?.manager;
  } catch {
    return undefined;
  }
}

function owns(entry: ManagedFieldsEntry, path: string): boolean {
  const steps = splitPath(path).filter((step) => !/^\d+$/.test(step));
  // Every manager owns a part of `spec`. Only deeper paths show that two own the same field, unless there are none.
  for (let length = steps.length; length >= Math.min(2, steps.length); length--) {
    if (isApplied(entry.fieldsV1 ?? {}, steps.slice(0, length))) return true;
  }
  return false;
}

function newest(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry | undefined {
  return [...entries].sort((left, right) => ((left.time ?? "") < (right.time ?? "") ? 1 : -1))[0];
}
