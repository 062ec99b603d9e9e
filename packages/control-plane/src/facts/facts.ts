import type { UntypedObject } from "setpoint/kinds";
import type { Column } from "./column.js";
import type { Message } from "./message.js";
import type { Schema } from "./schema.js";
import type { OpenApiSchema } from "./schema-graph.js";

/**
 * Facts about a real kube-apiserver as data, all of it written by `tools/harvest`. Resources are named
 * `group/version/plural` (`/v1/pods`). All control planes of a process share the facts, which never change.
 */
export interface Facts {
  readonly version: ServerVersion;
  /** Discovery in kube-apiserver's order, the core group first. */
  readonly groups: readonly GroupFacts[];
  /** Objects that kube-apiserver creates at its first start: namespaces, RBAC, priority classes, flow schemas. */
  readonly bootstrap: readonly UntypedObject[];
  /** The published schemas by component name (`io.k8s.api.core.v1.Pod`), with references, without descriptions. */
  readonly components: Readonly<Record<string, OpenApiSchema>>;

  strategy(group: string, version: string, plural: string): StrategyFacts | undefined;
  columns(group: string, version: string, plural: string): readonly Column[];
  /** The component that describes a kind. */
  componentOf(group: string, version: string, kind: string): string | undefined;
  /**
   * The schema of a kind with its references resolved: a graph that kinds share and that has cycles.
   *
   * Its `default`s come from the document and are nearly all Go's zero values. They stand in for absent keys of list
   * maps and are never written to objects.
   */
  schemaOf(group: string, version: string, kind: string): Schema | undefined;
  /** How Go encodes a kind. Options (such as DeleteOptions) are the same in every group version. */
  messageOf(apiVersion: string, kind: string): Message | undefined;
  messageNamed(name: string): Message | undefined;
}

export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
  readonly gitVersion: string;
}

export interface GroupFacts {
  readonly group: string;
  /** The preferred version first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly ResourceFacts[] }[];
}

export interface ResourceFacts {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
  readonly subresources?: readonly SubresourceFacts[];
}

export interface SubresourceFacts {
  readonly name: string;
  readonly kind: string;
  /** Group and version of its kind, if they differ from the resource's. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** Observed behaviour of a kind. The first five are absent for kinds that cannot be created. */
export interface StrategyFacts {
  readonly hasGeneration?: boolean;
  readonly hasStatus?: boolean;
  readonly allowsUnconditionalUpdate?: boolean;
  readonly allowsCreateOnUpdate?: boolean;
  readonly returnsDeletedObject?: boolean;
  readonly defaultPropagation?: "Orphan";
  /** Finalizers of every new object. */
  readonly finalizers?: readonly string[];
  readonly selectableFields?: readonly string[];
  /** Sent with every response about this resource. */
  readonly warning?: string;
}

/** Loads the facts at the first call in a process. Later calls share them. */
export async function loadFacts(): Promise<Facts> {
  const { harvested } = await import("./harvested.js");
  return harvested;
}
