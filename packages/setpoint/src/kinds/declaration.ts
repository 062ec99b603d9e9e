import { SetpointError } from "../errors/error.js";
import type { ValidationRule } from "./builtin/apiextensions.k8s.io/v1.js";
import type { Marker } from "./k8s.js";
import type { Scope } from "./kind.js";
import type { KubeObject, writtenAs } from "./object.js";
import type { Schema } from "./schema/json-schema.js";
import type { Refinements } from "./schema/refinements.js";
import type { StructuralSchema } from "./schema/structural-schema.js";

/** The options of `resource(…)`. */
export interface ResourceOptions<
  SpecSchema extends Schema,
  StatusSchema extends Schema,
  HasConditions extends boolean = boolean,
  S extends Scope = Scope,
> {
  readonly spec: SpecSchema;
  /** With a status schema, the kind has a status subresource. */
  readonly status?: StatusSchema;
  /** Adds `conditions` to the status, as in Kubernetes' own kinds. The runtime then shows waits and failures there. */
  readonly conditions?: HasConditions;
  /** Defaults to `Namespaced`. */
  readonly scope?: S;
  /** Defaults to the English plural; the CustomResourceDefinition's name is `plural.group`. */
  readonly plural?: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly description?: string;
  /** The columns of `kubectl get`: `{ Image: ".spec.image" }`. A column has the type of its field. */
  readonly columns?: Readonly<Record<string, string | ColumnOptions>>;
  /** Adds a scale subresource, for `kubectl scale` and autoscalers. */
  readonly scale?: ScaleOptions;
  /** Fields that field selectors may use: `[".spec.color"]`. */
  readonly selectableFields?: readonly string[];
  /** CEL rules on the whole object, including `self.spec` and `self.metadata.name`. */
  readonly rules?: readonly ValidationRule[];
  /** Markers by path (`spec.ports`), for libraries whose metadata does not reach JSON Schema. */
  readonly markers?: Readonly<Record<string, Marker>>;
}

/** The options of a further version of a kind. */
export interface VersionOptions<Old extends KubeObject, New extends KubeObject> {
  /** Whether the version is served. Defaults to true. */
  readonly served?: boolean;
  /** Marks the version as deprecated: servers warn its users with this text. */
  readonly deprecated?: string;
  /**
   * Converts from this version to the stored one. The metadata stays, and so does the status unless the function
   * returns one. Without both functions, objects are not converted. Fields that one version has and the other lacks are
   * kept in an annotation, and restored by the conversion back.
   */
  readonly up?: (object: Old) => Body<New>;
  readonly down?: (object: New) => Body<Old>;
}

/** An object without the fields that every object has. */
export type Body<T extends KubeObject> = Omit<T, keyof KubeObject | typeof writtenAs>;

export interface ColumnOptions {
  /** A JSONPath from the object: `.status.ready`. */
  readonly path: string;
  /** Defaults to the type of the field; required if the path is more than names. */
  readonly type?: "integer" | "number" | "string" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** Above 0, the column shows only with `-o wide`. */
  readonly priority?: number;
}

/** The paths of a kind's number of replicas: `{ spec: ".spec.replicas", status: ".status.replicas" }`. */
export interface ScaleOptions {
  readonly spec: string;
  readonly status: string;
  /** A string field of the status with a label selector; autoscalers need it. */
  readonly selector?: string;
}

/** A version in addition to the stored one. */
export interface OlderVersion extends VersionOptions<KubeObject, KubeObject> {
  readonly declaration: ResourceDeclaration;
}

/** A kind's declaration with its schema in structural form. */
export interface ResourceDeclaration {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  readonly options: Omit<ResourceOptions<Schema, Schema>, "spec" | "status">;
  readonly hasStatus: boolean;
  /** The schema of a whole object. */
  readonly schema: StructuralSchema;
  readonly versions: readonly OlderVersion[];
  /** Of the spec, where it has any. */
  readonly refinements?: Refinements;
}

export function invalidKind(where: string, why: string): SetpointError {
  return new SetpointError("KIND_INVALID", `${where}: ${why}`);
}
