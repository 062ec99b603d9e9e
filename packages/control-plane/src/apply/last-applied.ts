import { goJson } from "../api/go-format.js";
import { isObject, type JsonObject, withField, withoutField } from "../api/json.js";
import { compare } from "./comparison.js";
import type { Conflict } from "./conflict.js";
import type { WriteContext } from "./field-manager.js";
import { difference, hasPath } from "./field-set.js";
import { mergeType } from "./merge-type.js";
import { ownedFields } from "./owned-fields.js";
import { checkTyped } from "./typed-validation.js";

const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/**
 * The remaining conflicts when kubectl migrates from client-side apply. A field whose live value kubectl applied last
 * belongs to kubectl, whoever is recorded as its owner.
 */
export function allowedByLastApplied(
  context: WriteContext,
  live: JsonObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  const applied = lastApplied(live);
  const schema = context.schemaOf(context.apiVersion);
  if (applied === undefined || applied.apiVersion !== context.apiVersion) return conflicts;
  const type = mergeType(schema ?? undefined);
  try {
    checkTyped(type, live);
    checkTyped(type, applied);
  } catch {
    return conflicts;
  }
  const { added, modified, removed } = compare(type, applied, live);
  const own = difference(difference(difference(ownedFields(type, applied), modified), added), removed);
  return conflicts.filter(({ path }) => !hasPath(own, path));
}

/** Updates the annotation of client-side apply, if present, to what kubectl applies. */
export function syncLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (annotations === undefined || !annotations[ANNOTATION]) return object;
  const applied = `${goJson(withoutAnnotation(config))}\n`;
  const updated = withField(annotations, ANNOTATION, applied);
  const size = Object.entries(updated).reduce(
    (bytes, [key, value]) => bytes + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  const kept = size > MAX_ANNOTATIONS_BYTES ? withoutField(annotations, ANNOTATION) : updated;
  return withField(object, "metadata", withField(object.metadata as JsonObject, "annotations", kept));
}

function lastApplied(object: JsonObject): JsonObject | undefined {
  const text = annotationsOf(object)?.[ANNOTATION];
  if (typeof text !== "string" || text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value.kind === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  if (!isObject(metadata)) return undefined;
  const { annotations } = metadata;
  return isObject(annotations) ? annotations : undefined;
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  if (annotations === undefined) return config;
  const rest = withoutField(annotations, ANNOTATION);
  const metadata = config.metadata as JsonObject;
  return withField(config, "metadata", withField(metadata, "annotations", rest));
}
