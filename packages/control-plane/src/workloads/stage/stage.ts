import { type Client, isAlreadyExists, type Kind, type KubeObject, kind } from "setpoint";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";

export interface StageRequirement {
  /** A path in the manner of jq: `.status.phase`, `.status.conditions.[] | select( .type == "Ready" ) | .status`. */
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** An expression of CEL over `self`. */
export interface CelExpression {
  readonly expression: string;
}

/** What must hold of an object: a requirement, as such or below `jq`, or an expression that is true. */
export type StageExpression = StageRequirement | { readonly jq: StageRequirement } | { readonly cel: CelExpression };

/** A value that the object itself gives: by a path, in the old and the new form, or by an expression. */
export interface ValueFrom {
  readonly expressionFrom?: string;
  readonly jq?: { readonly expression: string };
  readonly cel?: CelExpression;
}

export interface StageEvent {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface StageFinalizers {
  readonly add?: readonly { readonly value: string }[];
  readonly remove?: readonly { readonly value: string }[];
  readonly empty?: boolean;
}

export interface StagePatch {
  /** The main object unless given. */
  readonly subresource?: string;
  /** The field that the template is the value of; the whole patch unless given. */
  readonly root?: string;
  /** YAML with Go's template actions. */
  readonly template?: string;
  /** `strategic` for built-in kinds, `merge` for others, unless given. */
  readonly type?: "json" | "merge" | "strategic";
}

/** A step in the life of simulated objects, as kwok declares it; the part of it that is played here. */
export interface Stage extends KubeObject {
  readonly apiVersion: "kwok.x-k8s.io/v1alpha1";
  readonly kind: "Stage";
  readonly spec: {
    /** `apiGroup` is an apiVersion, `v1` unless given. */
    readonly resourceRef: { readonly apiGroup?: string; readonly kind: string };
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchAnnotations?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly StageExpression[];
    };
    readonly weight?: number;
    readonly weightFrom?: ValueFrom;
    readonly delay?: {
      readonly durationMilliseconds?: number;
      readonly durationFrom?: ValueFrom;
      readonly jitterDurationMilliseconds?: number;
      readonly jitterDurationFrom?: ValueFrom;
    };
    readonly next?: {
      readonly event?: StageEvent;
      readonly finalizers?: StageFinalizers;
      readonly delete?: boolean;
      readonly patches?: readonly StagePatch[];
      /** The value of `status` in a patch. */
      readonly statusTemplate?: string;
      /** Where that patch goes: `status` unless given. */
      readonly statusSubresource?: string;
    };
    /** What is done, in this order; after `next`, where that is there as well. */
    readonly steps?: readonly StageStep[];
  };
}

export interface StageStep {
  readonly event?: StageEvent;
  readonly finalizers?: StageFinalizers;
  readonly delete?: boolean;
  readonly patch?: StagePatch;
}

export const Stage: Kind<Stage> = kind<Stage>("kwok.x-k8s.io/v1alpha1/Stage", { scope: "Cluster" });

/** Makes stages known to the API server, where they are not. */
export async function installStages(client: Client): Promise<void> {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = {
    name: "v1alpha1",
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
  };
  try {
    await client.create(CustomResourceDefinition, {
      metadata: { name: "stages.kwok.x-k8s.io" },
      spec: {
        group: "kwok.x-k8s.io",
        scope: "Cluster",
        names: { plural: "stages", singular: "stage", kind: "Stage", listKind: "StageList" },
        versions: [version],
      },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
