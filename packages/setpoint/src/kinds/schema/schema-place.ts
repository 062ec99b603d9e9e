import type { Marker } from "../k8s.js";
import { ownField } from "../own-field.js";
import { inexpressible, type JsonSchema } from "./json-schema.js";

/** The current position in a schema, with its context. */
export interface Place {
  /** `spec.ports[].name`; the values of a map are `spec.labels.*`. */
  readonly path: string;
  /** The root for `$ref`s. */
  readonly root: JsonSchema;
  /** The `$ref`s that are being followed, to detect recursion. */
  readonly refs: readonly string[];
  /** The number of enclosing lists and maps: each multiplies the cost of a CEL rule. */
  readonly depth: number;
  readonly markers: Readonly<Record<string, Marker>>;
  /** The paths of markers that were used. */
  readonly markersMet: Set<string>;
  /** A branch of a union has the path of the union, but not its marker. */
  readonly isBranch: boolean;
}

/** The path step from an object to its field. */
export const fieldStep = (name: string): string => (/^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

/** Its author marked it as unchecked: omit what cannot be expressed instead of refusing it. */
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
  if (typeof found !== "object" || found === null) throw inexpressible(path, `there is nothing at ${ref}`);
  return found as JsonSchema;
}
