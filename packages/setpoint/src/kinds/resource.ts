import { SetpointError } from "../errors/error.js";
import type { Condition } from "./condition.js";
import { convertObject } from "./crd/conversion.js";
import { type CrdManifest, type CrdOptions, crdOf } from "./crd/crd.js";
import {
  invalidKind,
  type OlderVersion,
  type ResourceDeclaration,
  type ResourceOptions,
  type VersionOptions,
} from "./declaration.js";
import type { Kind, Scope } from "./kind.js";
import { type ParseKindId, parseKindId, pluralOf } from "./kind-id.js";
import type { DeepReadonly, KubeObject, NewObject, writtenAs } from "./object.js";
import { checkResourceOptions } from "./resource-options.js";
import { checkRules } from "./rules/rule-check.js";
import { withDefaults } from "./schema/defaulting.js";
import {
  type InputOf,
  isStandardSchema,
  type OutputOf,
  type Schema,
  type StandardIssue,
} from "./schema/json-schema.js";
import { objectSchema } from "./schema/object-schema.js";
import { refinedPaths } from "./schema/refinements.js";
import { fieldStep } from "./schema/schema-place.js";
import { type FieldProblem, validateValue } from "./schema/validation.js";

/** An object of a kind that was declared with {@link resource}. */
export interface ResourceObject<ApiVersion extends string, KindName extends string, Spec, Status, SpecInput = Spec>
  extends KubeObject {
  readonly apiVersion: ApiVersion;
  readonly kind: KindName;
  readonly spec: DeepReadonly<Spec>;
  readonly status?: DeepReadonly<Status>;
  readonly [writtenAs]?: Record<never, never> extends SpecInput
    ? { readonly spec?: DeepReadonly<SpecInput> }
    : { readonly spec: DeepReadonly<SpecInput> };
}

/** A kind with its schema: it prints its CustomResourceDefinition, fills in defaults and validates. */
export interface Resource<T extends KubeObject = KubeObject, S extends Scope = Scope> extends Kind<T, S> {
  /** The checked declaration. */
  readonly declaration: ResourceDeclaration;
  /** The CustomResourceDefinition of this kind. Deterministic. */
  crd(options?: CrdOptions): CrdManifest;
  /** The object as the server would store it, with apiVersion, kind and the schema's defaults. */
  withDefaults(object: NewObject<T>): NewObject<T>;
  /**
   * The errors that a server would report for the object, and further ones of the schema library; empty if valid. Only
   * servers check CEL rules.
   */
  validate(object: NewObject<T>): readonly FieldProblem[];
  /** Throws `OBJECT_INVALID`, which lists the problems, if there are any. */
  assertValid(object: NewObject<T>): void;
  /** This kind with an older version added. This version is the storage version unless the CRD says otherwise. */
  withVersion<Old extends KubeObject>(older: Resource<Old>, options?: VersionOptions<Old, T>): Resource<T, S>;
  /** The object in another version of this kind, converted through the stored one. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

type StatusOf<StatusSchema, HasConditions> = [StatusSchema] extends [never]
  ? HasConditions extends true
    ? { readonly conditions?: readonly Condition[] }
    : undefined
  : HasConditions extends true
    ? OutputOf<StatusSchema> & { readonly conditions?: readonly Condition[] }
    : OutputOf<StatusSchema>;

type ResourceOf<Id extends string, SpecSchema, StatusSchema, HasConditions, S extends Scope> = Resource<
  ResourceObject<
    ParseKindId<Id>["apiVersion"],
    ParseKindId<Id>["kind"],
    OutputOf<SpecSchema>,
    StatusOf<StatusSchema, HasConditions>,
    InputOf<SpecSchema>
  >,
  S
>;

/**
 * Declares a kind by its schema, from any library with Standard Schema and JSON Schema output, or JSON Schema itself.
 *
 * ```ts
 * const Website = resource("web.example.com/v1/Website", {
 *   spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
 *   status: z.object({ ready: z.int() }),
 *   conditions: true,
 *   columns: { Image: ".spec.image", Ready: ".status.ready" },
 * });
 * ```
 *
 * Throws `KIND_ID_INVALID`, `KIND_INVALID`, or `SCHEMA_INEXPRESSIBLE` for a schema that no CustomResourceDefinition can
 * hold; the message names the path, and the place in a CEL rule that does not compile.
 */
export function resource<
  const Id extends `${string}/${string}/${string}`,
  SpecSchema extends Schema,
  StatusSchema extends Schema = never,
  const HasConditions extends boolean = false,
  const S extends Scope = "Namespaced",
>(
  id: Id,
  options: ResourceOptions<SpecSchema, StatusSchema, HasConditions, S>,
): ResourceOf<Id, SpecSchema, StatusSchema, HasConditions, S> {
  const { group, version, kind } = parseKindId(id);
  if (!group.includes(".")) {
    throw new SetpointError(
      "KIND_ID_INVALID",
      `kind "${id}": the group must be a domain of yours, such as web.example.com`,
    );
  }
  checkResourceOptions(kind, options);
  const { spec, status, ...rest } = options;
  const refined = refinedPaths(spec, "spec");
  const declaration: ResourceDeclaration = {
    group,
    version,
    kind,
    plural: options.plural ?? pluralOf(kind),
    scope: options.scope ?? "Namespaced",
    options: rest,
    hasStatus: status !== undefined || options.conditions === true,
    schema: objectSchema(options),
    versions: [],
    ...(refined.length > 0
      ? { refinements: { paths: refined, problems: (object) => specProblems(spec, object) } }
      : {}),
  };
  const made = makeResource(declaration, { spec, ...(status ? { status } : {}) });
  checkRules(kind, declaration.schema);
  made.crd(); // columns and paths that do not fit are found now, not when it is installed
  return made as unknown as ResourceOf<Id, SpecSchema, StatusSchema, HasConditions, S>;
}

type Parts = { readonly spec: Schema; readonly status?: Schema };

function makeResource(declaration: ResourceDeclaration, parts: Parts): Resource {
  const { group, version, kind, plural, scope, schema } = declaration;
  const apiVersion = `${group}/${version}`;
  const made: Resource = {
    group,
    version,
    kind,
    apiVersion,
    plural,
    scope,
    declaration,
    crd: (options) => crdOf(declaration, options),
    withDefaults: (object) => withDefaults({ ...object, apiVersion, kind }, schema) as NewObject<KubeObject>,
    validate: (object) => {
      const whole = made.withDefaults(object) as unknown as Readonly<Record<string, unknown>>;
      const found = validateValue(whole, schema, "").map((problem) => ({
        ...problem,
        path: problem.path.replace(/^\./, ""),
      }));
      return [...found, ...libraryProblems(parts, whole, found, declaration.options.conditions === true)];
    },
    assertValid: (object) => {
      const problems = made.validate(object);
      if (problems.length === 0) return;
      const name = object.metadata.name ?? object.metadata.generateName ?? "";
      const list = problems.map(({ path, message }) => `${path} ${message}`).join("; ");
      throw new SetpointError("OBJECT_INVALID", `${kind} ${name}: ${list}`);
    },
    withVersion: (older, options = {}) => {
      checkVersion(declaration, older.declaration, options as Partial<OlderVersion>);
      const added = { ...options, declaration: older.declaration } as OlderVersion;
      return makeResource({ ...declaration, versions: [...declaration.versions, added] }, parts);
    },
    convert: (object, target) => {
      if (object.apiVersion === target) return object;
      const stored = object.apiVersion === apiVersion ? object : step(object, apiVersion, "up", object.apiVersion);
      return target === apiVersion ? stored : step(stored, target, "down", target);
    },
  };
  return made;

  function step(object: KubeObject, target: string, direction: "up" | "down", versionOf: string): KubeObject {
    const older = declaration.versions.find(
      (candidate) => candidate.declaration.version === versionOf.slice(group.length + 1),
    );
    if (!older) {
      throw new SetpointError("CONVERSION_MISSING", `${kind}: no version ${versionOf} besides ${apiVersion}`);
    }
    const targetSchema = direction === "up" ? schema : older.declaration.schema;
    return convertObject(object, { older, direction, target, targetSchema });
  }
}

/** What the schema library reports in addition to the server (refinements), for fields without a problem so far. */
function libraryProblems(
  parts: Parts,
  object: Readonly<Record<string, unknown>>,
  found: readonly FieldProblem[],
  hasConditions: boolean,
): readonly FieldProblem[] {
  return Object.entries(parts).flatMap(([name, schema]) => {
    if (!isStandardSchema(schema) || object[name] === undefined) return [];
    const result = schema["~standard"].validate(hasConditions ? ownPart(object, name) : object[name]);
    if (result instanceof Promise) throw invalidKind(name, ASYNCHRONOUS);
    return (result.issues ?? [])
      .map((issue) => ({ path: `${name}${pathOf(issue)}`, message: `is refused: ${issue.message}` }))
      .filter(({ path }) => !found.some((problem) => problem.path === path || problem.path.startsWith(`${path}.`)));
  });
}

/** What the schema library alone says of the spec. */
function specProblems(spec: Schema, object: { readonly spec?: unknown }): readonly FieldProblem[] {
  if (!isStandardSchema(spec)) return [];
  const result = spec["~standard"].validate(object.spec);
  if (result instanceof Promise) throw invalidKind("spec", ASYNCHRONOUS);
  return (result.issues ?? []).map((issue) => ({ path: `spec${pathOf(issue)}`, message: issue.message }));
}

const ASYNCHRONOUS = "validates asynchronously, but a kind needs a synchronous schema";

/** Without the conditions that the option adds: the library's schema does not know them. */
function ownPart(object: Readonly<Record<string, unknown>>, name: string): unknown {
  if (name !== "status" || typeof object.status !== "object" || object.status === null) return object[name];
  const { conditions: _, ...own } = object.status as { readonly conditions?: unknown };
  return own;
}

function pathOf(issue: StandardIssue): string {
  return (issue.path ?? [])
    .map((part) => (typeof part === "object" ? part.key : part))
    .map((key) => (typeof key === "number" ? `[${key}]` : fieldStep(String(key))))
    .join("");
}

function checkVersion(stored: ResourceDeclaration, older: ResourceDeclaration, options: Partial<OlderVersion>): void {
  const where = `${stored.kind}: version ${older.version}`;
  for (const field of ["group", "kind", "plural", "scope"] as const) {
    if (older[field] !== stored[field]) {
      throw invalidKind(where, `its ${field} is ${older[field]}, but ${stored[field]} in version ${stored.version}`);
    }
  }
  const names = [stored.version, ...stored.versions.map((version) => version.declaration.version)];
  if (names.includes(older.version)) throw invalidKind(where, "is there already");
  if ((options.up === undefined) !== (options.down === undefined)) {
    throw invalidKind(where, "needs both `up` and `down`, or neither");
  }
}
