// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Condition } from "../../condition.js";
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type { LabelSelector } from "../../selector/label-selector.js";

export interface ApplyConfiguration {
  readonly expression?: string;
}

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

export interface JSONPatch {
  readonly expression?: string;
}

export interface MatchCondition {
  readonly expression: string;
  readonly name: string;
}

export interface MatchResources {
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#mutatingadmissionpolicy-v1-admissionregistration-k8s-io */
export interface MutatingAdmissionPolicy extends KubeObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingAdmissionPolicy";
  readonly metadata: ObjectMeta;
  readonly spec?: MutatingAdmissionPolicySpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#mutatingadmissionpolicy-v1-admissionregistration-k8s-io */
export const MutatingAdmissionPolicy: Kind<MutatingAdmissionPolicy, "Cluster"> = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "MutatingAdmissionPolicy",
  apiVersion: "admissionregistration.k8s.io/v1",
  plural: "mutatingadmissionpolicies",
  scope: "Cluster",
};

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#mutatingadmissionpolicybinding-v1-admissionregistration-k8s-io */
export interface MutatingAdmissionPolicyBinding extends KubeObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingAdmissionPolicyBinding";
  readonly metadata: ObjectMeta;
  readonly spec?: MutatingAdmissionPolicyBindingSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#mutatingadmissionpolicybinding-v1-admissionregistration-k8s-io */
export const MutatingAdmissionPolicyBinding: Kind<MutatingAdmissionPolicyBinding, "Cluster"> = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "MutatingAdmissionPolicyBinding",
  apiVersion: "admissionregistration.k8s.io/v1",
  plural: "mutatingadmissionpolicybindings",
  scope: "Cluster",
};

export interface MutatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
}

export interface MutatingAdmissionPolicySpec {
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly mutations?: readonly Mutation[];
  readonly paramKind?: ParamKind;
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly variables?: readonly Variable[];
}

export interface MutatingWebhook {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly name: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#mutatingwebhookconfiguration-v1-admissionregistration-k8s-io */
export interface MutatingWebhookConfiguration extends KubeObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingWebhookConfiguration";
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly MutatingWebhook[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#mutatingwebhookconfiguration-v1-admissionregistration-k8s-io */
export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration, "Cluster"> = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "MutatingWebhookConfiguration",
  apiVersion: "admissionregistration.k8s.io/v1",
  plural: "mutatingwebhookconfigurations",
  scope: "Cluster",
};

export interface Mutation {
  readonly applyConfiguration?: ApplyConfiguration;
  readonly jsonPatch?: JSONPatch;
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
}

export interface NamedRuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly parameterNotFoundAction?: string;
  readonly selector?: LabelSelector;
}

export interface RuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface ServiceReference {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
}

export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#validatingadmissionpolicy-v1-admissionregistration-k8s-io */
export interface ValidatingAdmissionPolicy extends KubeObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicy";
  readonly metadata: ObjectMeta;
  readonly spec?: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#validatingadmissionpolicy-v1-admissionregistration-k8s-io */
export const ValidatingAdmissionPolicy: Kind<ValidatingAdmissionPolicy, "Cluster"> = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicy",
  apiVersion: "admissionregistration.k8s.io/v1",
  plural: "validatingadmissionpolicies",
  scope: "Cluster",
};

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#validatingadmissionpolicybinding-v1-admissionregistration-k8s-io */
export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicyBinding";
  readonly metadata: ObjectMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#validatingadmissionpolicybinding-v1-admissionregistration-k8s-io */
export const ValidatingAdmissionPolicyBinding: Kind<ValidatingAdmissionPolicyBinding, "Cluster"> = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicyBinding",
  apiVersion: "admissionregistration.k8s.io/v1",
  plural: "validatingadmissionpolicybindings",
  scope: "Cluster",
};

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName: string;
  readonly validationActions: readonly ("Audit" | "Deny" | "Warn")[];
}

export interface ValidatingAdmissionPolicySpec {
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly paramKind?: ParamKind;
  readonly validations?: readonly Validation[];
  readonly variables?: readonly Variable[];
}

export interface ValidatingAdmissionPolicyStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
  readonly typeChecking?: TypeChecking;
}

export interface ValidatingWebhook {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly name: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#validatingwebhookconfiguration-v1-admissionregistration-k8s-io */
export interface ValidatingWebhookConfiguration extends KubeObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingWebhookConfiguration";
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly ValidatingWebhook[];
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#validatingwebhookconfiguration-v1-admissionregistration-k8s-io */
export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration, "Cluster"> = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingWebhookConfiguration",
  apiVersion: "admissionregistration.k8s.io/v1",
  plural: "validatingwebhookconfigurations",
  scope: "Cluster",
};

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface Variable {
  readonly expression: string;
  readonly name: string;
}

export interface WebhookClientConfig {
  readonly caBundle?: string;
  readonly service?: ServiceReference;
  readonly url?: string;
}
