import type { Marker } from "../k8s.js";
import { ownField } from "../own-field.js";
import { inexpressible, type JsonSchema } from "./json-schema.js";

/** Where in a schema we are, and what is known on the way there. */
export interface Place {
  /** `spec.ports[].name`; the values of a map are `spec.labels.*`. */
  readonly path: string;
  /** What `$ref`s start from. */
  readonly root: JsonSchema;
  /** The `$ref`s that are being followed; one that comes up again never ends. */
  readonly refs: readonly string[];
  /** How many lists and maps are around: each multiplies what a CEL rule may cost. */
  readonly depth: number;
  readonly markers: Readonly<Record<string, Marker>>;
  /** The paths of markers that were met. */
  readonly markersMet: Set<string>;
  /** A branch of a union is at the path of the union, whose marker is not its own. */
  readonly isBranch: boolean;
}

/** The step from an object to its field in a path. */
export const fieldStep = (name: string): string => (/^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

/** Marked as unchecked by its author: what cannot be expressed is left out instead of refused. */
export const isOpaque = (schema: JsonSchema): boolean => schema["x-kubernetes-preserve-unknown-fields"] === true;

/** Follows references and adds the marker of the path. */
export function resolve(given: unknown, place: Place): { schema: JsonSchema; place: Place } {
  if (given === false) throw inexpressible(place.path, "nothing is allowed here; leave the field out of the schema");
  let schema: JsonSchema = given === true || given === undefined ? {} : (given as JsonSchema);
  const marker = place.isBranch ? undefined : ownField(place.markers, place.path);
  if (marker) place.markersMet.add(place.path);
  let refs = place.refs;
  while (typeof schema.$ref === "string") {
    const { $ref, ...siblings } = schema;
    if (refs.includes($ref)) {
      if (isOpaque({ ...siblings, ...marker })) return { schema: { type: "object", ...siblings, ...marker }, place };
      throw inexpressible(
        place.path,
        "it contains itself, and a CRD cannot be recursive; mark the field k8s.preserveUnknownFields",
      );
    }
    refs = [...refs, $ref];
    schema = { ...lookUp(place, $ref), ...siblings };
  }
  return { schema: { ...schema, ...marker }, place: { ...place, refs } };
}

function lookUp({ root, path }: Place, ref: string): JsonSchema {
  const pointer = ref.startsWith("#") ? ref.slice(1).split("/").slice(1) : [""];
  let found: unknown = root;
  for (const part of pointer) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = ownField((found ?? {}) as JsonSchema, key);
  }
  if (typeof found !== "object" || found === null) throw inexpressible(path, `not found: ${ref}`);
  return found as JsonSchema;
}
