import { SetpointError } from "../errors/error.js";
import type { ValidationRule } from "./builtin/apiextensions.k8s.io/v1.js";
import type { Marker } from "./k8s.js";
import type { Scope } from "./kind.js";
import type { KubeObject, writtenAs } from "./object.js";
import type { Schema } from "./schema/json-schema.js";
import type { Refinements } from "./schema/refinements.js";
import type { StructuralSchema } from "./schema/structural-schema.js";

/** What `resource(…)` takes. */
export interface ResourceOptions<
  SpecSchema extends Schema,
  StatusSchema extends Schema,
  HasConditions extends boolean = boolean,
  S extends Scope = Scope,
> {
  readonly spec: SpecSchema;
  /** Given one, the kind has a status subresource. */
  readonly status?: StatusSchema;
  /** Gives the status `conditions`, as Kubernetes' own kinds have them. The runtime then shows waits and failures there. */
  readonly conditions?: HasConditions;
  /** `Namespaced` unless given. */
  readonly scope?: S;
  /** The English plural unless given; the CustomResourceDefinition's name is `plural.group`. */
  readonly plural?: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly description?: string;
  /** What `kubectl get` prints: `{ Image: ".spec.image" }`. The type of a column is that of its field. */
  readonly columns?: Readonly<Record<string, string | ColumnOptions>>;
  /** Gives the kind a scale subresource, for `kubectl scale` and autoscalers. */
  readonly scale?: ScaleOptions;
  /** Fields that field selectors may name: `[".spec.color"]`. */
  readonly selectableFields?: readonly string[];
  /** CEL rules on the whole object, `self.spec` and `self.metadata.name` included. */
  readonly rules?: readonly ValidationRule[];
  /** Markers by path (`spec.ports`), for libraries whose metadata does not reach JSON Schema. */
  readonly markers?: Readonly<Record<string, Marker>>;
}

/** What a version of a kind needs beside its schema, to be one of several. */
export interface VersionOptions<Old extends KubeObject, New extends KubeObject> {
  /** Whether requests may still use it. True unless given. */
  readonly served?: boolean;
  /** Servers warn its users with this text. */
  readonly deprecated?: string;
  /**
   * From this version to the stored one; the metadata stays as it is, and so does the status, unless the function returns
   * one. Without both the objects are taken as they are. Fields that one version has and the other lacks are kept in an
   * annotation, and come back with the conversion back.
   */
  readonly up?: (object: Old) => Body<New>;
  readonly down?: (object: New) => Body<Old>;
}

/** An object without what every object has. */
export type Body<T extends KubeObject> = Omit<T, keyof KubeObject | typeof writtenAs>;

export interface ColumnOptions {
  /** A JSONPath from the object: `.status.ready`. */
  readonly path: string;
  /** That of the field unless given; needed where the path is more than names. */
  readonly type?: "integer" | "number" | "string" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** Above 0, the column shows with `-o wide` alone. */
  readonly priority?: number;
}

/** Where a kind keeps its number of replicas: `{ spec: ".spec.replicas", status: ".status.replicas" }`. */
export interface ScaleOptions {
  readonly spec: string;
  readonly status: string;
  /** A text field of the status that holds a label selector; autoscalers need it. */
  readonly selector?: string;
}

/** A version that is kept beside the stored one. */
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
