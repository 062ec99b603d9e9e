import type { UntypedObject } from "setpoint/kinds";
import type { Column } from "./column.js";
import type { Message } from "./message.js";
import type { Schema } from "./schema.js";
import type { OpenApiSchema } from "./schema-graph.js";

/**
 * What is known of a real kube-apiserver as data. Written by `tools/harvest`; nothing here is made up. Resources are
 * named `group/version/plural` (`/v1/pods`). Shared by all control planes of a process and never changed.
 */
export interface Facts {
  readonly version: ServerVersion;
  /** Discovery, in the server's order, the core group first. */
  readonly groups: readonly GroupFacts[];
  /** What a server makes for itself at its first start: namespaces, RBAC, priority classes, flow schemas. */
  readonly bootstrap: readonly UntypedObject[];
  /** The published schemas by component name (`io.k8s.api.core.v1.Pod`), references kept, descriptions dropped. */
  readonly components: Readonly<Record<string, OpenApiSchema>>;

  strategy(group: string, version: string, plural: string): StrategyFacts | undefined;
  columns(group: string, version: string, plural: string): readonly Column[];
  /** The component that describes a kind. */
  componentOf(group: string, version: string, kind: string): string | undefined;
  /**
   * The schema of a kind with its references resolved: a graph, shared between kinds and cyclic in places.
   *
   * Its `default`s are the document's, nearly all of them Go's zero values. They stand in for absent keys of list maps
   * and are never filled into objects.
   */
  schemaOf(group: string, version: string, kind: string): Schema | undefined;
  /** How Go encodes a kind. Options (DeleteOptions …) are the same in every group version. */
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
  /** The preferred one first. */
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
  /** Group and version of its kind, where they are not the resource's own. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** What a server was seen to do with a kind. The first five are absent for kinds that cannot be created. */
export interface StrategyFacts {
  readonly hasGeneration?: boolean;
  readonly hasStatus?: boolean;
  readonly allowsUnconditionalUpdate?: boolean;
  readonly allowsCreateOnUpdate?: boolean;
  readonly returnsDeletedObject?: boolean;
  readonly defaultPropagation?: "Orphan";
  /** Set on every new object. */
  readonly finalizers?: readonly string[];
  readonly selectableFields?: readonly string[];
  /** Sent with every answer about this resource. */
  readonly warning?: string;
}

/** Reads the facts at the first call in a process; later calls share them. */
export async function loadFacts(): Promise<Facts> {
  const { harvested } = await import("./harvested.js");
  return harvested;
}
