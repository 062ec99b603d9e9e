import type { KubeObject } from "setpoint";
import { BOOL, NULL, STRING, type Type } from "../../cel/types/type.js";
import { type ObjectLabelSelector, selectorOf } from "../../registry/selectors/object-label-selector.js";
import {
  type AdmissionExpression,
  type AdmissionScope,
  admissionExpression,
} from "../expressions/admission-expression.js";
import { MatchConditions } from "../expressions/match-conditions.js";
import { APPLIED, PATCHES } from "../expressions/patch-types.js";
import type { InstalledWebhook, WebhookRule } from "../webhooks/webhook.js";

/** Which requests a policy or binding matches. */
export interface MatchResources {
  readonly namespaceSelector?: ObjectLabelSelector | null;
  readonly objectSelector?: ObjectLabelSelector | null;
  readonly resourceRules?: readonly NamedRule[] | null;
  readonly excludeResourceRules?: readonly NamedRule[] | null;
  readonly matchPolicy?: "Exact" | "Equivalent";
}

export interface NamedRule extends WebhookRule {
  readonly resourceNames?: readonly string[] | null;
}

export interface PolicyValidation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A `ValidatingAdmissionPolicy`. */
export interface ValidatingPolicy extends KubeObject {
  readonly spec: {
    readonly paramKind?: ParamKind | null;
    readonly matchConstraints?: MatchResources | null;
    readonly validations?: readonly PolicyValidation[] | null;
    readonly failurePolicy?: "Fail" | "Ignore";
    readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[] | null;
    readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[] | null;
    readonly variables?: readonly PolicyVariable[] | null;
  };
}

/** A `ValidatingAdmissionPolicyBinding`. */
export interface PolicyBinding extends KubeObject {
  readonly spec: {
    readonly policyName?: string;
    readonly paramRef?: ParamRef | null;
    readonly matchResources?: MatchResources | null;
    readonly validationActions?: readonly ("Deny" | "Warn" | "Audit")[] | null;
  };
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: ObjectLabelSelector | null;
  readonly parameterNotFoundAction?: "Allow" | "Deny";
}

/** A `MutatingAdmissionPolicy`. */
export interface MutatingPolicy extends KubeObject {
  readonly spec: Omit<ValidatingPolicy["spec"], "validations" | "auditAnnotations"> & {
    readonly mutations?: readonly PolicyMutation[] | null;
    readonly reinvocationPolicy?: "Never" | "IfNeeded";
  };
}

export interface PolicyMutation {
  readonly patchType?: string;
  readonly applyConfiguration?: { readonly expression?: string } | null;
  readonly jsonPatch?: { readonly expression?: string } | null;
}

/** The compiled parts that both kinds of policies share. */
export interface CompiledBasis {
  readonly match: CompiledMatch;
  readonly variables: ReadonlyMap<string, AdmissionExpression>;
  readonly conditions: MatchConditions | undefined;
}

/** A policy with its compiled expressions. */
export interface CompiledPolicy extends CompiledBasis {
  readonly policy: ValidatingPolicy;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly expression: AdmissionExpression }[];
}

export interface CompiledMutatingPolicy extends CompiledBasis {
  readonly policy: MutatingPolicy;
  readonly mutations: readonly CompiledMutation[];
}

export interface CompiledMutation {
  readonly isPatch: boolean;
  readonly expression: AdmissionExpression;
}

export interface CompiledValidation {
  readonly validation: PolicyValidation;
  readonly expression: AdmissionExpression;
  readonly message: AdmissionExpression | undefined;
}

function compileBasis(
  { metadata, spec }: ValidatingPolicy | MutatingPolicy,
  hasPatchTypes: boolean,
): CompiledBasis & { readonly scope: AdmissionScope } {
  const base = { hasParams: Boolean(spec.paramKind), hasAuthorizer: true, hasPatchTypes };
  const types = new Map<string, Type>();
  const variables = new Map<string, AdmissionExpression>();
  for (const { name, expression } of spec.variables ?? []) {
    const compiled = admissionExpression(expression, { ...base, variables: new Map(types) });
    types.set(name, compiled.type);
    variables.set(name, compiled);
  }
  const conditions = spec.matchConditions ?? [];
  return {
    match: compileMatch(metadata.name, spec.matchConstraints),
    variables,
    conditions: conditions.length === 0 ? undefined : new MatchConditions(conditions, base.hasParams),
    scope: { ...base, variables: types },
  };
}

export function compilePolicy(policy: ValidatingPolicy): CompiledPolicy {
  const { spec } = policy;
  const { scope, ...basis } = compileBasis(policy, false);
  return {
    ...basis,
    policy,
    validations: (spec.validations ?? []).map((validation) => ({
      validation,
      expression: admissionExpression(validation.expression, scope, [BOOL]),
      message: validation.messageExpression
        ? admissionExpression(validation.messageExpression, { ...scope, hasAuthorizer: false }, [STRING])
        : undefined,
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: admissionExpression(valueExpression, scope, [STRING, NULL]),
    })),
  };
}

export function compileMutatingPolicy(policy: MutatingPolicy): CompiledMutatingPolicy {
  const { scope, ...basis } = compileBasis(policy, true);
  const mutations = (policy.spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
    const isPatch = patchType === "JSONPatch";
    const text = (isPatch ? jsonPatch : applyConfiguration)?.expression ?? "";
    return { isPatch, expression: admissionExpression(text, scope, [isPatch ? PATCHES : APPLIED]) };
  });
  return { ...basis, policy, mutations };
}

/** The match rules of a policy or binding, in the form that webhook matching uses. */
export interface CompiledMatch {
  readonly webhook: InstalledWebhook;
  readonly rules: readonly NamedRule[];
  readonly excluded: readonly NamedRule[];
}

const EVERYTHING: NamedRule = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] };

export function compileMatch(name: string, match: MatchResources | null | undefined): CompiledMatch {
  const rules = match?.resourceRules?.length ? match.resourceRules : [EVERYTHING];
  const namespaceSelector = selectorOf(match?.namespaceSelector);
  const objectSelector = selectorOf(match?.objectSelector);
  const webhook = { name, clientConfig: {}, rules, matchPolicy: match?.matchPolicy ?? "Equivalent" };
  return {
    webhook: { id: name, webhook, namespaceSelector, objectSelector, conditions: undefined },
    rules,
    excluded: match?.excludeResourceRules ?? [],
  };
}
