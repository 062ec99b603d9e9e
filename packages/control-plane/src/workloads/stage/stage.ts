import { type Client, isAlreadyExists, type Kind, type KubeObject, kind } from "setpoint";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";

export interface StageRequirement {
  /** A jq-like path: `.status.phase`, `.status.conditions.[] | select( .type == "Ready" ) | .status`. */
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** A CEL expression over `self`. */
export interface CelExpression {
  readonly expression: string;
}

/** A condition on an object: a requirement, plain or below `jq`, or a CEL expression that must be true. */
export type StageExpression = StageRequirement | { readonly jq: StageRequirement } | { readonly cel: CelExpression };

/** A value taken from the object: by a path (`expressionFrom` is the old form, `jq` the new one) or by CEL. */
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
  /** Defaults to the main object. */
  readonly subresource?: string;
  /** The field whose value the template renders. Defaults to the whole patch. */
  readonly root?: string;
  /** YAML with Go template actions. */
  readonly template?: string;
  /** Defaults to `strategic` for built-in kinds, `merge` for others. */
  readonly type?: "json" | "merge" | "strategic";
}

/** The supported part of kwok's Stage: one step in the life of simulated objects. */
export interface Stage extends KubeObject {
  readonly apiVersion: "kwok.x-k8s.io/v1alpha1";
  readonly kind: "Stage";
  readonly spec: {
    /** `apiGroup` is an apiVersion and defaults to `v1`. */
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
      /** Renders the value of `status` in a patch. */
      readonly statusTemplate?: string;
      /** The subresource of that patch. Defaults to `status`. */
      readonly statusSubresource?: string;
    };
    /** The steps, in order. They follow `next` if both are present. */
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

/** Creates the CRD of stages, if it is missing. */
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
