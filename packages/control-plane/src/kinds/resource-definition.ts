import type { KubeObject } from "setpoint";
import type { FieldError } from "../api/status-error.js";
import type { Column } from "../facts/column.js";
import type { Message } from "../facts/message.js";
import type { Schema } from "../facts/schema.js";
import type { Strategy } from "./strategy.js";

/**
 * One served resource in one version: what a path segment leads to. Built-in ones are rows of facts, custom ones come
 * from CRDs; everything above the storage works on these alone.
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
  /** Built-in kinds take protobuf and strategic patches, and list items without apiVersion and kind. */
  readonly isBuiltIn: boolean;
  readonly subresources: readonly Subresource[];
  /** `group/plural` under which the storage keeps the objects; shared by the versions of a resource. */
  readonly storageId: string;
  readonly storageVersion: string;
  /** The schema of this version; undefined where everything is kept as it comes. */
  readonly schema: Schema | undefined;
  /** What a CRD publishes in OpenAPI: its original schema. */
  readonly publishedSchema?: Schema;
  /** The Go struct of a built-in kind. */
  readonly message: Message | undefined;
  /** What the schema makes of an object that a client sent. */
  readonly shape: ObjectShape;
  readonly strategy: Strategy;
  readonly columns: readonly Column[];
  /** Field selectors beyond metadata.name and metadata.namespace: JSON paths such as `spec.nodeName`. */
  readonly selectableFields: readonly string[];
  /** From the storage version to this one and back; undefined where they are the same but for the apiVersion. */
  readonly convert?: Conversion;
  /** Brings an object that was stored under an earlier schema up to date (pruning, defaults); itself where it is. */
  readonly refresh?: (object: KubeObject) => KubeObject;
  /** Of the objects' storage, as discovery shows it. */
  readonly storageVersionHash?: string;
  /** Warnings for every request to this version (deprecation). */
  readonly warning?: string;
}

/** The schema at work. Functions are pure and return the object itself where there is nothing to do. */
export interface ObjectShape {
  /**
   * Without the fields that the schema does not know, whose paths are reported: `spec.zzz`. Throws `DecodingError` for
   * what cannot be read as this kind at all. Parts that are those of `known`, which was pruned before, may be left alone.
   */
  prune(
    object: KubeObject,
    known?: KubeObject,
  ): { readonly object: KubeObject; readonly unknownFields: readonly string[] };
  /** With the schema's defaults filled in. Parts that are those of `known`, which has them, may be left alone. */
  applyDefaults(object: KubeObject, known?: KubeObject): KubeObject;
  /**
   * `old` is the state before, for ratcheting: what was wrong already may stay. A write to `/status` is judged by the
   * status alone. `warn` hears of what is wrong but forgiven.
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
  /** For `scale` of custom resources. */
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

export interface Conversion {
  /** To this definition's version. May call a webhook, hence the promise; `signal` ends it. */
  toServed(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
  toStored(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]>;
}
