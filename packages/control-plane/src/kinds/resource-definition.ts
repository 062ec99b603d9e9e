import type { KubeObject } from "setpoint";
import type { FieldError } from "../api/status-error.js";
import type { Column } from "../facts/column.js";
import type { Message } from "../facts/message.js";
import type { Schema } from "../facts/schema.js";
import type { Strategy } from "./strategy.js";

/**
 * One resource at one version. Built-in definitions come from the facts, custom ones from CRDs. The layers above the
 * storage depend only on these definitions.
 */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** False for a version that is only stored. */
  readonly isServed: boolean;
  /** Built-in kinds accept protobuf and strategic merge patches. Their list items omit apiVersion and kind. */
  readonly isBuiltIn: boolean;
  readonly subresources: readonly Subresource[];
  /** The `group/plural` of the stored objects. All versions of a resource share it. */
  readonly storageId: string;
  readonly storageVersion: string;
  /** The schema of this version. Undefined if objects are stored as sent. */
  readonly schema: Schema | undefined;
  /** The original schema of a CRD, as OpenAPI shows it. */
  readonly publishedSchema?: Schema;
  /** The Go struct of a built-in kind. */
  readonly message: Message | undefined;
  /** Prunes, defaults and validates objects by the schema. */
  readonly shape: ObjectShape;
  readonly strategy: Strategy;
  readonly columns: readonly Column[];
  /** Field selectors beyond metadata.name and metadata.namespace: JSON paths such as `spec.nodeName`. */
  readonly selectableFields: readonly string[];
  /** Converts between the storage version and this one. Undefined if they differ only in the apiVersion. */
  readonly convert?: Conversion;
  /**
   * Prunes and defaults an object that was stored under an earlier schema. Returns the object itself if nothing
   * changes.
   */
  readonly refresh?: (object: KubeObject) => KubeObject;
  /** The hash of the storage version in discovery. */
  readonly storageVersionHash?: string;
  /** A warning for every request to this version, such as its deprecation. */
  readonly warning?: string;
}

/** Applies a schema to objects. All functions are pure, and return the object itself if nothing changes. */
export interface ObjectShape {
  /**
   * Removes unknown fields and reports their paths: `spec.zzz`. Throws `DecodingError` if the object cannot be decoded
   * as this kind. May skip parts that the object shares with `known`, which is already pruned.
   */
  prune(
    object: KubeObject,
    known?: KubeObject,
  ): { readonly object: KubeObject; readonly unknownFields: readonly string[] };
  /** Applies the schema's defaults. May skip parts that the object shares with `known`, which already has them. */
  applyDefaults(object: KubeObject, known?: KubeObject): KubeObject;
  /**
   * Validates an object. `old` is the previous state, for ratcheting: a value that was already invalid may stay. For a
   * write to `/status`, only the status is validated. `warn` receives problems that are tolerated.
   */
  validate(
    object: KubeObject,
    old: KubeObject | undefined,
    subresource: string,
    warn: (message: string) => void,
  ): readonly FieldError[];
}

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  /** For `scale`: the paths of the replicas and the selector in the object. */
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

export interface Conversion {
  /** Converts to this definition's version. May call a webhook; `signal` ends the call. */
  toServed(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
  toStored(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
}
