import { invalidKind, type ResourceOptions } from "../declaration.js";
import { ownField } from "../own-field.js";
import { withDefaults } from "./defaulting.js";
import { inexpressible, jsonSchemaOf, type Schema } from "./json-schema.js";
import { fieldStep } from "./schema-place.js";
import { type StructuralSchema, toStructural } from "./structural-schema.js";
import { validateValue } from "./validation.js";

/** The structural schema of a whole object, from the schemas of its parts. */
export function objectSchema(options: ResourceOptions<Schema, Schema>): StructuralSchema {
  const markersMet = new Set<string>();
  const markers = options.markers ?? {};
  const part = (name: "spec" | "status"): StructuralSchema | undefined => {
    const schema = options[name];
    if (!schema) return undefined;
    const root = jsonSchemaOf(schema, "input", name);
    const place = { path: name, root, refs: [], depth: 0, markers, markersMet, isBranch: false };
    const structural = toStructural(root, place);
    if (structural.type !== "object") throw invalidKind(name, "must be the schema of an object");
    const output = jsonSchemaOf(schema, "output", name);
    checkStored(structural, toStructural(output, { ...place, root: output }), name);
    checkDefaults(structural, name);
    return structural;
  };
  const spec = part("spec")!;
  const status = options.conditions ? withConditions(part("status")) : part("status");
  for (const path of Object.keys(markers)) {
    if (!markersMet.has(path)) throw invalidKind(`markers["${path}"]`, "the schema has no such path");
  }
  const isSpecRequired = (spec.required?.length ?? 0) > 0;
  return {
    ...(options.description === undefined ? {} : { description: options.description }),
    type: "object",
    ...(isSpecRequired ? { required: ["spec"] } : {}),
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      // A spec without required fields defaults to an empty one, so that readers always find what its type promises.
      spec: isSpecRequired || spec.default !== undefined ? spec : { ...spec, default: {} },
      ...(status ? { status } : {}),
    },
    ...(options.rules?.length ? { "x-kubernetes-validations": options.rules } : {}),
  };
}

/** `metav1.Condition`. The writer of a condition owns it. */
const CONDITIONS: StructuralSchema = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    required: ["lastTransitionTime", "message", "reason", "status", "type"],
    properties: {
      type: { type: "string", minLength: 1, maxLength: 316 },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      reason: { type: "string", minLength: 1, maxLength: 1024 },
      message: { type: "string" },
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    },
  },
};

function withConditions(status: StructuralSchema = { type: "object" }): StructuralSchema {
  if (ownField(status.properties, "conditions"))
    throw invalidKind("conditions", "the schema of the status has conditions already: leave one of the two out");
  return { ...status, properties: { ...status.properties, conditions: CONDITIONS } };
}

/** The server stores what was written: a schema whose readers get another type would be wrong. */
function checkStored(input: StructuralSchema, output: StructuralSchema, path: string): void {
  if (input.type !== output.type) {
    const [from, to] = [input.type ?? "anything", output.type ?? "anything"];
    throw inexpressible(
      path,
      `it transforms ${from} into ${to}, but the server stores what was written; only validate`,
    );
  }
  for (const [name, field] of Object.entries(input.properties ?? {})) {
    const read = ownField(output.properties, name);
    const isPromised =
      output.required?.includes(name) && !input.required?.includes(name) && field.default === undefined;
    if (isPromised) {
      throw inexpressible(
        `${path}${fieldStep(name)}`,
        "its type promises a value, but its JSON Schema has no default; set it with a marker ({ default: … })",
      );
    }
    if (read) checkStored(field, read, `${path}${fieldStep(name)}`);
  }
  if (input.items && output.items) {
    checkStored(input.items as StructuralSchema, output.items as StructuralSchema, `${path}[]`);
  }
  if (typeof input.additionalProperties === "object" && typeof output.additionalProperties === "object") {
    checkStored(input.additionalProperties, output.additionalProperties, `${path}.*`);
  }
}

/** Servers refuse a default that its own schema refuses, and drop a default of null. Checked here, the error has a path. */
function checkDefaults(schema: StructuralSchema, path: string): void {
  if (schema.default === null) {
    throw inexpressible(path, "servers drop a default of null; make the field optional instead");
  }
  if (schema.default !== undefined) {
    const problem = validateValue(withDefaults(schema.default, schema), schema, path)[0];
    if (problem) throw invalidKind(problem.path, `the default does not fit: it ${problem.message}`);
  }
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    checkDefaults(field, `${path}${fieldStep(name)}`);
  if (schema.items) checkDefaults(schema.items as StructuralSchema, `${path}[]`);
  if (typeof schema.additionalProperties === "object") checkDefaults(schema.additionalProperties, `${path}.*`);
}
