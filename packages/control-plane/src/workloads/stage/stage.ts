import { type Client, isAlreadyExists, type Kind, type KubeObject, kind } from "setpoint";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";

export interface StageExpression {
  /** A path in the manner of jq: `.status.phase`, `.status.conditions.[] | select( .type == "Ready" ) | .status`. */
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** A step in the life of simulated objects, as kwok declares it; the part of it that is played here. */
export interface Stage extends KubeObject {
  readonly apiVersion: "kwok.x-k8s.io/v1alpha1";
  readonly kind: "Stage";
  readonly spec: {
    readonly resourceRef: { readonly apiGroup?: string; readonly kind: string };
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchAnnotations?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly StageExpression[];
    };
    readonly weight?: number;
    readonly delay?: {
      readonly durationMilliseconds?: number;
      readonly durationFrom?: { readonly expressionFrom?: string };
      readonly jitterDurationMilliseconds?: number;
      readonly jitterDurationFrom?: { readonly expressionFrom?: string };
    };
    readonly next?: {
      readonly event?: { readonly type?: string; readonly reason?: string; readonly message?: string };
      readonly finalizers?: {
        readonly add?: readonly { readonly value: string }[];
        readonly remove?: readonly { readonly value: string }[];
        readonly empty?: boolean;
      };
      readonly delete?: boolean;
      /** YAML with Go's template actions. */
      readonly statusTemplate?: string;
    };
  };
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
