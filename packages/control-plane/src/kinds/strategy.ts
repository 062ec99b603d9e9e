import type { KubeObject } from "setpoint";
import type { NameRule } from "setpoint/kinds";
import type { FieldError } from "../api/status-error.js";

/**
 * The behavior of a kind beyond the generic path. Most parts are optional: a custom resource has almost none of them,
 * and a built-in kind a few lines in a table. Functions are pure. The object that they return replaces the given one.
 */
export interface Strategy {
  /** Whether the server maintains `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** Whether the main endpoint ignores `status`, and `/status` ignores everything else. */
  readonly hasStatus: boolean;
  /** Whether a new object keeps the status that it was sent with. */
  readonly keepsStatusOfNew?: boolean;
  /** Metadata that `/status` cannot change. */
  readonly statusKeeps?: readonly ("labels" | "annotations" | "finalizers" | "ownerReferences")[];
  /** Whether a change of annotations increments the generation. */
  readonly generationCountsAnnotations?: boolean;
  /** Whether the real server validates the metadata of an update once more, so that causes appear twice. */
  readonly validatesMetadataTwice?: boolean;
  /** Rule for names. Defaults to a DNS subdomain. */
  readonly nameRule?: NameRule;
  /** Whether a PUT without resourceVersion is accepted. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether a PUT on a missing object creates it. */
  readonly allowsCreateOnUpdate?: boolean;
  /** Whether DELETE returns the object instead of a Status. */
  readonly returnsDeletedObject: boolean;
  /** The grace period of a delete in seconds. If undefined, an object is removed at once. */
  readonly gracePeriodSeconds?: (object: KubeObject, requested: number | undefined) => number;
  readonly defaultPropagation?: "Background" | "Foreground" | "Orphan";
  /** Applies further defaults after those of the schema, as the real server does. */
  readonly applyDefaults?: (object: KubeObject) => KubeObject;
  readonly prepareCreate?: (object: KubeObject, context: StrategyContext) => KubeObject;
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, context: StrategyContext) => KubeObject;
  /** Changes an object at its first delete. The finalizers that this adds keep the object. */
  readonly prepareDelete?: (object: KubeObject, nowMs: number) => KubeObject;
  readonly validate?: (object: KubeObject, context: StrategyContext) => readonly FieldError[];
  readonly validateUpdate?: (object: KubeObject, old: KubeObject, context: StrategyContext) => readonly FieldError[];
  /** Resolves once the control plane has processed a write. The response to the write waits for it. */
  readonly settled?: () => Promise<void>;
  /** Warnings about a valid object: a new one, or one that the main endpoint or `scale` changed from `old`. */
  readonly warnings?: Warnings;
}

/** `old` is undefined for a new object. */
export type Warnings = (object: KubeObject, old: KubeObject | undefined) => readonly string[];

export interface StrategyContext {
  readonly nowMs: number;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
}
