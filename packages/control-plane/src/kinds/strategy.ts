import type { KubeObject } from "setpoint";
import type { NameRule } from "setpoint/kinds";
import type { FieldError } from "../api/status-error.js";

/**
 * What a kind does beyond the generic path. All parts are optional: a custom resource has next to none, a built-in kind
 * a few lines in a table. Functions are pure; what they return replaces the object.
 */
export interface Strategy {
  /** The server counts `metadata.generation` for this kind. */
  readonly hasGeneration: boolean;
  /** The main endpoint ignores `status`, and `/status` ignores everything else. */
  readonly hasStatus: boolean;
  /** A new object keeps the status that it came with. */
  readonly keepsStatusOfNew?: boolean;
  /** Metadata that `/status` cannot change. */
  readonly statusKeeps?: readonly ("labels" | "annotations" | "finalizers" | "ownerReferences")[];
  /** Annotations count as part of the desired state: changing them bumps the generation. */
  readonly generationCountsAnnotations?: boolean;
  /** The real server looks at the metadata of an update once more than for other kinds: causes come twice. */
  readonly validatesMetadataTwice?: boolean;
  /** Rule for names; default: a DNS subdomain. */
  readonly nameRule?: NameRule;
  /** A PUT without resourceVersion is accepted. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A PUT on a missing object creates it. */
  readonly allowsCreateOnUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeletedObject: boolean;
  /** Seconds of grace for a delete; undefined: none, the object goes at once. */
  readonly gracePeriodSeconds?: (object: KubeObject, requested: number | undefined) => number;
  readonly defaultPropagation?: "Background" | "Foreground" | "Orphan";
  /** Fills in what the real server's defaulting does (verified against it). */
  readonly applyDefaults?: (object: KubeObject) => KubeObject;
  readonly prepareCreate?: (object: KubeObject, context: StrategyContext) => KubeObject;
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, context: StrategyContext) => KubeObject;
  /** What a first delete adds to the object, which then stays for the finalizers that this set. */
  readonly prepareDelete?: (object: KubeObject, nowMs: number) => KubeObject;
  readonly validate?: (object: KubeObject, context: StrategyContext) => readonly FieldError[];
  readonly validateUpdate?: (object: KubeObject, old: KubeObject, context: StrategyContext) => readonly FieldError[];
  /** Resolves once the plane did what a write asks of it at once; the writer's answer waits for it. */
  readonly settled?: () => Promise<void>;
  /** What is odd though valid: about a new object, or one that its own endpoint or its scale changed from `old`. */
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
