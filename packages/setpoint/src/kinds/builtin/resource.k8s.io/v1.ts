// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Condition } from "../../condition.js";
import type { Kind } from "../../kind.js";
import type { JsonObject, KubeObject, ObjectMeta } from "../../object.js";
import type * as core from "../v1.js";

export interface AllocatedDeviceStatus {
  readonly conditions?: readonly Condition[];
  readonly data?: JsonObject;
  readonly device: string;
  readonly driver: string;
  readonly networkData?: NetworkDeviceData;
  readonly pool: string;
  readonly shareID?: string;
}

export interface AllocationResult {
  readonly allocationTimestamp?: string;
  readonly devices?: DeviceAllocationResult;
  readonly nodeSelector?: core.NodeSelector;
}

export interface CELDeviceSelector {
  readonly expression: string;
}

export interface CapacityRequestPolicy {
  readonly default?: string;
  readonly validRange?: CapacityRequestPolicyRange;
  readonly validValues?: readonly string[];
}

export interface CapacityRequestPolicyRange {
  readonly max?: string;
  readonly min: string;
  readonly step?: string;
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, string>>;
}

export interface Counter {
  readonly value: string;
}

export interface CounterSet {
  readonly counters: Readonly<Record<string, Counter>>;
  readonly name: string;
}

export interface Device {
  readonly allNodes?: boolean;
  readonly allowMultipleAllocations?: boolean;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly bindsToNode?: boolean;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly name: string;
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>;
  readonly nodeName?: string;
  readonly nodeSelector?: core.NodeSelector;
  readonly taints?: readonly DeviceTaint[];
}

export interface DeviceAllocationConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
  readonly source: "FromClaim" | "FromClass";
}

export interface DeviceAllocationResult {
  readonly config?: readonly DeviceAllocationConfiguration[];
  readonly results?: readonly DeviceRequestAllocationResult[];
}

export interface DeviceAttribute {
  readonly bool?: boolean;
  readonly bools?: readonly boolean[];
  readonly int?: number;
  readonly ints?: readonly number[];
  readonly string?: string;
  readonly strings?: readonly string[];
  readonly version?: string;
  readonly versions?: readonly string[];
}

export interface DeviceCapacity {
  readonly requestPolicy?: CapacityRequestPolicy;
  readonly value: string;
}

export interface DeviceClaim {
  readonly config?: readonly DeviceClaimConfiguration[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly requests?: readonly DeviceRequest[];
}

export interface DeviceClaimConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#deviceclass-v1-resource-k8s-io */
export interface DeviceClass extends KubeObject {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "DeviceClass";
  readonly metadata: ObjectMeta;
  readonly spec: DeviceClassSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#deviceclass-v1-resource-k8s-io */
export const DeviceClass: Kind<DeviceClass, "Cluster"> = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "DeviceClass",
  apiVersion: "resource.k8s.io/v1",
  plural: "deviceclasses",
  scope: "Cluster",
};

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassSpec {
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
  readonly selectors?: readonly DeviceSelector[];
}

export interface DeviceConstraint {
  readonly distinctAttribute?: string;
  readonly matchAttribute?: string;
  readonly requests?: readonly string[];
}

export interface DeviceCounterConsumption {
  readonly counterSet: string;
  readonly counters: Readonly<Record<string, Counter>>;
}

export interface DeviceRequest {
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
  readonly name: string;
}

export interface DeviceRequestAllocationResult {
  readonly adminAccess?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly consumedCapacity?: Readonly<Record<string, string>>;
  readonly device: string;
  readonly driver: string;
  readonly pool: string;
  readonly request: string;
  readonly shareID?: string;
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceSubRequest {
  readonly allocationMode?: "All" | "ExactCount";
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly name: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceTaint {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
}

export interface DeviceToleration {
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly tolerationSeconds?: number;
  readonly value?: string;
}

export interface ExactDeviceRequest {
  readonly adminAccess?: boolean;
  readonly allocationMode?: "All" | "ExactCount";
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface NetworkDeviceData {
  readonly hardwareAddress?: string;
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
}

export interface NodeAllocatableResourceMapping {
  readonly allocationMultiplier?: string;
  readonly capacityKey?: string;
}

export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  readonly parameters: JsonObject;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#resourceclaim-v1-resource-k8s-io */
export interface ResourceClaim extends KubeObject {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "ResourceClaim";
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
  readonly status?: ResourceClaimStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#resourceclaim-v1-resource-k8s-io */
export const ResourceClaim: Kind<ResourceClaim, "Namespaced"> = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaim",
  apiVersion: "resource.k8s.io/v1",
  plural: "resourceclaims",
  scope: "Namespaced",
};

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly name: string;
  readonly resource: string;
  readonly uid: string;
}

export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim;
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly devices?: readonly AllocatedDeviceStatus[];
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#resourceclaimtemplate-v1-resource-k8s-io */
export interface ResourceClaimTemplate extends KubeObject {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "ResourceClaimTemplate";
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimTemplateSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#resourceclaimtemplate-v1-resource-k8s-io */
export const ResourceClaimTemplate: Kind<ResourceClaimTemplate, "Namespaced"> = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaimTemplate",
  apiVersion: "resource.k8s.io/v1",
  plural: "resourceclaimtemplates",
  scope: "Namespaced",
};

export interface ResourceClaimTemplateSpec {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec: ResourceClaimSpec;
}

export interface ResourcePool {
  readonly generation: number;
  readonly name: string;
  readonly resourceSliceCount: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#resourceslice-v1-resource-k8s-io */
export interface ResourceSlice extends KubeObject {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "ResourceSlice";
  readonly metadata: ObjectMeta;
  readonly spec: ResourceSliceSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#resourceslice-v1-resource-k8s-io */
export const ResourceSlice: Kind<ResourceSlice, "Cluster"> = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceSlice",
  apiVersion: "resource.k8s.io/v1",
  plural: "resourceslices",
  scope: "Cluster",
};

export interface ResourceSliceSpec {
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly driver: string;
  readonly nodeName?: string;
  readonly nodeSelector?: core.NodeSelector;
  readonly perDeviceNodeSelection?: boolean;
  readonly pool: ResourcePool;
  readonly sharedCounters?: readonly CounterSet[];
}
