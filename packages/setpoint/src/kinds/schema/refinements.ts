import type { Schema } from "./json-schema.js";
import { fieldStep } from "./schema-place.js";
import type { FieldProblem } from "./validation.js";

/** Checks of a schema library that JSON Schema has no words for (`refine` of zod, `narrow` of arktype): no server makes them. */
export interface Refinements {
  /** Where they stand: `spec.ports[].name`. */
  readonly paths: readonly string[];
  /** What the library says of the spec of an object that its server has let pass. */
  problems(object: object): readonly FieldProblem[];
}

interface ZodDefinition {
  readonly checks?: readonly { readonly _zod: { readonly def: { readonly check?: string } } }[];
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly getter?: () => unknown;
  readonly [part: string]: unknown;
}

/** The step to a part of a schema, where it is one to a value within. */
const STEPS: Readonly<Record<string, string>> = { element: "[]", valueType: ".*" };

/** The paths of refinements in the schema of a part of an object. */
export function refinedPaths(schema: Schema, path: string): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (given: unknown, at: string): void => {
    const definition = (given as { readonly _zod?: { readonly def: ZodDefinition } } | undefined)?._zod?.def;
    if (!definition || seen.has(given)) return;
    seen.add(given);
    if (definition.checks?.some(({ _zod }) => _zod.def.check === "custom")) found.add(at);
    for (const [name, field] of Object.entries(definition.shape ?? {})) visit(field, `${at}${fieldStep(name)}`);
    for (const [name, part] of Object.entries(definition)) {
      for (const each of Array.isArray(part) ? part : [part]) visit(each, `${at}${STEPS[name] ?? ""}`);
    }
    if (definition.type === "lazy") visit(definition.getter?.(), at);
  };
  visit(schema, path);
  // arktype prints what it checks, but not where.
  const { json } = schema as { readonly json?: unknown };
  if (json && /"predicate":/.test(JSON.stringify(json))) found.add(path);
  return [...found];
}
