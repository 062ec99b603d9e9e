import type { OlderVersion } from "../declaration.js";
import type { KubeObject } from "../object.js";
import { withDefaults } from "../schema/defaulting.js";
import type { StructuralSchema } from "../schema/structural-schema.js";
import { type LostField, lostFields, withLostFields } from "./lost-fields.js";

/** The prefix of the annotation that keeps the fields of a version: `conversion.setpoint.dev/v1`. */
const LOST_IN = "conversion.setpoint.dev/";

export interface ConversionStep {
  readonly older: OlderVersion;
  readonly direction: "up" | "down";
  /** The apiVersion to convert to, and the schema of its objects. */
  readonly target: string;
  readonly targetSchema: StructuralSchema;
}

/**
 * The object in another version, without loss: fields that the other version lacks are kept in an annotation of the
 * converted object, and restored when it is converted back. So a client of an old version may change a label without
 * erasing fields that the old version lacks.
 */
export function convertObject(object: KubeObject, step: ConversionStep): KubeObject {
  const { older, direction, target, targetSchema } = step;
  const { kind, apiVersion } = object;
  const [source, goal] = [apiVersion, target].map((each) => each.slice(each.indexOf("/") + 1)) as [string, string];
  if (!older.up || !older.down) return { ...object, apiVersion: target };
  const {
    [`${LOST_IN}${goal}`]: kept,
    [`${LOST_IN}${source}`]: _stale,
    ...annotations
  } = object.metadata.annotations ?? {};
  const metadata = { ...object.metadata, annotations };
  // Conversion functions do not see our annotations.
  const bare = { ...object, metadata };
  const body = withLostFields(bodyAfter(older[direction]!, bare), readLost(kept));
  const converted = { apiVersion: target, kind, metadata, ...body } as KubeObject;
  const lost = lostOnTheWay(bare, withDefaults(converted, targetSchema) as KubeObject, older, direction);
  const kepts = lost.length > 0 ? { [`${LOST_IN}${source}`]: JSON.stringify(lost) } : {};
  const all = { ...annotations, ...kepts };
  const { annotations: _none, ...plain } = object.metadata;
  return { ...converted, metadata: Object.keys(all).length > 0 ? { ...plain, annotations: all } : plain };
}

function lostOnTheWay(
  object: KubeObject,
  converted: KubeObject,
  older: OlderVersion,
  direction: "up" | "down",
): readonly LostField[] {
  let back: object;
  try {
    back = bodyAfter(older[direction === "up" ? "down" : "up"]!, converted);
  } catch {
    // The conversion still succeeds; the error surfaces in the conversion back.
    return [];
  }
  return lostFields(asJson(bodyOf(object)), asJson(back));
}

function bodyAfter(convert: (object: KubeObject) => object, object: KubeObject): object {
  const converted = convert(object);
  const { status } = object as { readonly status?: unknown };
  // A function that returns no status keeps it: otherwise the next write in the other version would lose it.
  return { ...converted, ...(status === undefined || "status" in converted ? {} : { status }) };
}

function bodyOf(object: KubeObject): object {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...body } = object;
  return body;
}

/** Without undefined fields. */
function asJson(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Empty if the annotation is missing or malformed. */
function readLost(text: string | undefined): readonly LostField[] {
  try {
    const lost: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(lost) ? lost.filter((each) => Array.isArray((each as LostField | null)?.path)) : [];
  } catch {
    return [];
  }
}
