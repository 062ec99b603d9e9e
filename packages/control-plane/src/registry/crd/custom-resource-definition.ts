import type { KubeObject } from "setpoint";
import type { Schema } from "../../facts/schema.js";

/** The parts of a CustomResourceDefinition that this server reads. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

export interface CrdSpec {
  readonly group: string;
  readonly names: CrdNames;
  readonly scope: "Namespaced" | "Cluster";
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface CrdColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface CrdConversion {
  readonly strategy: "None" | "Webhook";
  readonly webhook?: {
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly namespace: string;
        readonly name: string;
        readonly path?: string;
        readonly port?: number;
      };
      readonly caBundle?: string;
    };
    readonly conversionReviewVersions?: readonly string[];
  };
}

export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[] | null;
  readonly acceptedNames?: CrdNames;
  readonly storedVersions?: readonly string[];
}

export interface CrdCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export const CRD_STORAGE = "apiextensions.k8s.io/customresourcedefinitions";
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

export function hasCondition(crd: CustomResourceDefinition, type: string): boolean {
  return (crd.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === "True");
}

/** Sets one condition. Its lastTransitionTime changes only with its status. */
export function withCondition(
  conditions: readonly CrdCondition[] | null | undefined,
  wanted: Omit<CrdCondition, "lastTransitionTime">,
  now: string,
): readonly CrdCondition[] {
  const present = conditions ?? [];
  const old = present.find(({ type }) => type === wanted.type);
  const lastTransitionTime = old?.status === wanted.status ? old.lastTransitionTime : now;
  const { type, status, reason, message } = wanted;
  const made = { type, status, lastTransitionTime, reason, message };
  return old === undefined ? [...present, made] : present.map((each) => (each === old ? made : each));
}
