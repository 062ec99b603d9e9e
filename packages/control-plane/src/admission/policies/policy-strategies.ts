import type { KubeObject } from "setpoint";
import { dns1035Label, dnsSubdomain, pathSegmentName, qualifiedName } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "../../api/field-error.js";
import type { JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { errorsOf } from "../../builtin/validation/rule.js";
import { labelSelector } from "../../builtin/validation/selector-rules.js";
import { BOOL, NULL, STRING, type Type } from "../../cel/types/type.js";
import type { Strategy } from "../../kinds/strategy.js";
import { type AdmissionScope, admissionExpression } from "../expressions/admission-expression.js";
import { conditionErrors, expressionErrors } from "../expressions/expression-errors.js";
import { APPLIED, PATCHES } from "../expressions/patch-types.js";
import { ruleErrors } from "../webhooks/webhook-strategies.js";
import type {
  MatchResources,
  MutatingPolicy,
  NamedRule,
  ParamKind,
  ParamRef,
  PolicyBinding,
  PolicyMutation,
  PolicyValidation,
  ValidatingPolicy,
} from "./policy.js";

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS = ["Audit", "Deny", "Warn"];

type Validation = Pick<Strategy, "validate" | "validateUpdate">;

/** Validation of ValidatingAdmissionPolicies. */
export const policyStrategy: Validation = strategyOf((object) => policyErrors(object as ValidatingPolicy));

/** Validation of ValidatingAdmissionPolicyBindings. */
export const bindingStrategy: Validation = strategyOf((object) => bindingErrors(object as PolicyBinding));

/** Validation of MutatingAdmissionPolicies. */
export const mutatingPolicyStrategy: Validation = strategyOf((object) =>
  mutatingPolicyErrors(object as MutatingPolicy),
);

export const mutatingBindingStrategy: Validation = strategyOf((object) =>
  mutatingBindingErrors(object as PolicyBinding),
);

function strategyOf(errorsOf: (object: KubeObject) => readonly FieldError[]): Validation {
  return {
    validate: errorsOf,
    validateUpdate: (object, _old, { subresource }) => (subresource === "" ? errorsOf(object) : []),
  };
}

/** Validates the parts that both kinds of policies share. Returns the scope of their other expressions. */
function basisErrors(
  { spec }: ValidatingPolicy | MutatingPolicy,
  hasPatchTypes: boolean,
): { readonly errors: FieldError[]; readonly scope: AdmissionScope } {
  const { paramKind, matchConstraints, failurePolicy, variables } = spec;
  const errors: FieldError[] = fieldErrors();
  if (failurePolicy !== undefined && !["Fail", "Ignore"].includes(failurePolicy)) {
    errors.push(notSupported("spec.failurePolicy", failurePolicy, ["Fail", "Ignore"]));
  }
  if (paramKind) errors.push(...paramKindErrors(paramKind, "spec.paramKind"));
  if (!matchConstraints) errors.push(required("spec.matchConstraints"));
  else {
    errors.push(...matchErrors(matchConstraints, "spec.matchConstraints"));
    if (!matchConstraints.resourceRules?.length) errors.push(required("spec.matchConstraints.resourceRules"));
    if (hasPatchTypes) errors.push(...operationErrors(matchConstraints, "spec.matchConstraints"));
  }
  const base: AdmissionScope = { hasParams: Boolean(paramKind), hasAuthorizer: true };
  errors.push(...conditionErrors(spec.matchConditions ?? [], "spec.matchConditions", base));
  const types = new Map<string, Type>();
  for (const [index, { name = "", expression = "" }] of (variables ?? []).entries()) {
    const scope = { ...base, variables: new Map(types) };
    errors.push(...variableErrors(name, expression, `spec.variables[${index}]`, scope));
    // A variable without an expression does not exist: using it is an error.
    if (expression.trim() !== "") types.set(name, admissionExpression(expression, scope).type);
  }
  return { errors, scope: { ...base, hasPatchTypes, ...(variables?.length && { variables: types }) } };
}

/** Validates the kind of the parameters. */
function paramKindErrors({ apiVersion = "", kind = "" }: ParamKind, path: string): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const at = `${path}.apiVersion`;
  const parts = apiVersion.split("/");
  const [group, version] = parts.length === 1 ? ["", apiVersion] : (parts as [string, string]);
  if (apiVersion === "") errors.push(required(at));
  else if (parts.length > 2) errors.push(invalidValue(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    const wrong = group === "" ? [] : dnsSubdomain(group);
    if (wrong.length > 0) errors.push(invalidValue(at, group, wrong.join(",")));
    if (version === "") errors.push(invalidValue(at, apiVersion, "version must be specified"));
    else if (dns1035Label(version).length > 0) errors.push(invalidValue(at, version, dns1035Label(version).join(",")));
  }
  const complaints = dns1035Label(kind.toLowerCase());
  if (kind === "") errors.push(required(`${path}.kind`));
  else if (complaints.length > 0) {
    const why = `may have mixed case, but should otherwise match: ${complaints.join(",")}`;
    errors.push(invalidValue(`${path}.kind`, kind, why));
  }
  return errors;
}

function policyErrors(policy: ValidatingPolicy): readonly FieldError[] {
  const { validations, auditAnnotations } = policy.spec;
  const { errors, scope } = basisErrors(policy, false);
  if (!validations?.length && !auditAnnotations?.length) {
    const why = "validations or auditAnnotations must contain at least one item";
    return [...errors, required("spec.validations", why), required("spec.auditAnnotations", why)];
  }
  for (const [index, validation] of (validations ?? []).entries()) {
    errors.push(...validationErrors(validation, `spec.validations[${index}]`, scope));
  }
  const keys = new Set<string>();
  for (const [index, { key = "", valueExpression = "" }] of (auditAnnotations ?? []).entries()) {
    const path = `spec.auditAnnotations[${index}]`;
    const full = `${policy.metadata.name}/${key}`;
    errors.push(...qualifiedName(full).map((why) => invalidValue(`${path}.key`, full, why)));
    if (valueExpression.trim() === "") {
      errors.push(required(`${path}.valueExpression`, "valueExpression is not specified"));
    } else errors.push(...expressionErrors(valueExpression, `${path}.valueExpression`, scope, [STRING, NULL]));
    if (keys.has(key)) errors.push(duplicate(`${path}.key`, key));
    keys.add(key);
  }
  return errors;
}

function mutatingPolicyErrors(policy: MutatingPolicy): readonly FieldError[] {
  const { mutations, reinvocationPolicy = "" } = policy.spec;
  const { errors, scope } = basisErrors(policy, true);
  if (!mutations?.length) errors.push(required("spec.mutations", "mutations must contain at least one item"));
  for (const [index, mutation] of (mutations ?? []).entries()) {
    errors.push(...mutationErrors(mutation, `spec.mutations[${index}]`, scope));
  }
  if ((reinvocationPolicy as string) === "") errors.push(required("spec.reinvocationPolicy"));
  else if (!["IfNeeded", "Never"].includes(reinvocationPolicy)) {
    errors.push(notSupported("spec.reinvocationPolicy", reinvocationPolicy, ["IfNeeded", "Never"]));
  }
  return errors;
}

function mutationErrors(mutation: PolicyMutation, path: string, scope: AdmissionScope): readonly FieldError[] {
  const { patchType = "" } = mutation;
  if (patchType === "") return [required(`${path}.patchType`)];
  if (patchType !== "JSONPatch" && patchType !== "ApplyConfiguration") {
    return [notSupported(`${path}.patchType`, patchType, ["ApplyConfiguration", "JSONPatch"])];
  }
  const isPatch = patchType === "JSONPatch";
  const [field, other] = isPatch
    ? (["jsonPatch", "applyConfiguration"] as const)
    : (["applyConfiguration", "jsonPatch"] as const);
  const given = mutation[field];
  const own = given
    ? expressionErrors(given.expression ?? "", `${path}.${field}.expression`, scope, [isPatch ? PATCHES : APPLIED])
    : [required(`${path}.${field}`, `must be specified when patchType is ${patchType}`)];
  const why = `must not be specified when patchType is ${patchType}`;
  return [...own, ...(mutation[other] ? [invalidValue(`${path}.${other}`, `{${other}}`, why)] : [])];
}

/** Mutating policies can match only creates and updates. */
function operationErrors({ resourceRules }: MatchResources, path: string): readonly FieldError[] {
  const operations = (resourceRules ?? []).flatMap((rule) => rule.operations ?? []);
  return operations
    .filter((operation) => operation !== "CREATE" && operation !== "UPDATE")
    .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, ["CREATE", "UPDATE"]));
}

function variableErrors(name: string, expression: string, path: string, scope: AdmissionScope): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  if (name.trim() === "") errors.push(required(`${path}.name`, "name is not specified"));
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
    errors.push(invalidValue(`${path}.name`, name, "must be a valid CEL identifier"));
  }
  if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
  else errors.push(...expressionErrors(expression, `${path}.expression`, scope, []));
  return errors;
}

function validationErrors(validation: PolicyValidation, path: string, scope: AdmissionScope): readonly FieldError[] {
  const { expression = "", message = "", messageExpression = "", reason } = validation;
  const errors: FieldError[] = fieldErrors();
  if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
  else errors.push(...expressionErrors(expression, `${path}.expression`, scope, [BOOL]));
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(invalidValue(`${path}.messageExpression`, messageExpression, "must be non-empty if specified"));
  } else if (messageExpression !== "") {
    const silent = { ...scope, hasAuthorizer: false };
    errors.push(...expressionErrors(messageExpression, `${path}.messageExpression`, silent, [STRING]));
  }
  if (message !== "" && message.trim() === "") {
    errors.push(invalidValue(`${path}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidValue(`${path}.message`, message, "must not contain line breaks"));
  }
  if (reason !== undefined && reason !== null && !REASONS.includes(reason)) {
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  }
  return errors;
}

function matchErrors(match: MatchResources, path: string): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const { matchPolicy } = match;
  if (matchPolicy !== undefined && !["Equivalent", "Exact"].includes(matchPolicy)) {
    errors.push(notSupported(`${path}.matchPolicy`, matchPolicy, ["Equivalent", "Exact"]));
  }
  for (const field of ["namespaceSelector", "objectSelector"] as const) {
    errors.push(...errorsOf(labelSelector, (match[field] ?? {}) as JsonObject, `${path}.${field}`));
  }
  for (const field of ["resourceRules", "excludeResourceRules"] as const) {
    for (const [index, rule] of (match[field] ?? []).entries()) {
      errors.push(...namedRuleErrors(rule, `${path}.${field}[${index}]`));
    }
  }
  return errors;
}

function namedRuleErrors(rule: NamedRule, path: string): readonly FieldError[] {
  const names = rule.resourceNames ?? [];
  const errors = names.flatMap((name, index) => [
    ...pathSegmentName(name, false).map((why) => invalidValue(`${path}.resourceNames[${index}]`, name, why)),
    ...(names.indexOf(name) < index ? [duplicate(`${path}.resourceNames[${index}]`, name)] : []),
  ]);
  return [...errors, ...ruleErrors(rule, path)];
}

function bindingErrors(binding: PolicyBinding): readonly FieldError[] {
  const { validationActions } = binding.spec;
  return [...boundErrors(binding), ...actionErrors(validationActions ?? [], "spec.validationActions")];
}

function mutatingBindingErrors(binding: PolicyBinding): readonly FieldError[] {
  const { matchResources } = binding.spec;
  return [...boundErrors(binding), ...(matchResources ? operationErrors(matchResources, "spec.matchResources") : [])];
}

function boundErrors({ spec }: PolicyBinding): readonly FieldError[] {
  const { policyName = "", paramRef, matchResources } = spec;
  return [
    ...(policyName === ""
      ? [required("spec.policyName")]
      : dnsSubdomain(policyName).map((why) => invalidValue("spec.policyName", policyName, why))),
    ...(paramRef ? paramRefErrors(paramRef, "spec.paramRef") : []),
    ...(matchResources ? matchErrors(matchResources, "spec.matchResources") : []),
  ];
}

function paramRefErrors({ name, selector, parameterNotFoundAction }: ParamRef, path: string): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const exclusive = "name and selector are mutually exclusive";
  if (name) {
    errors.push(...pathSegmentName(name, false).map((why) => invalidValue(`${path}.name`, name, why)));
    if (selector) errors.push(forbiddenField(`${path}.name`, exclusive), forbiddenField(`${path}.selector`, exclusive));
  } else if (!selector) errors.push(required(path, "one of name or selector must be specified"));
  if (selector) errors.push(...errorsOf(labelSelector, selector as JsonObject, `${path}.selector`));
  if (!parameterNotFoundAction) errors.push(required(`${path}.parameterNotFoundAction`));
  else if (!["Allow", "Deny"].includes(parameterNotFoundAction)) {
    errors.push(notSupported(`${path}.parameterNotFoundAction`, parameterNotFoundAction, ["Deny", "Allow"]));
  }
  return errors;
}

function actionErrors(actions: readonly string[], path: string): readonly FieldError[] {
  const errors = actions.flatMap((action, index) => [
    ...(ACTIONS.includes(action) ? [] : [notSupported(`${path}[${index}]`, action, ACTIONS)]),
    ...(actions.indexOf(action) < index ? [duplicate(`${path}[${index}]`, action)] : []),
  ]);
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const why =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalidValue(path, actions, why));
  }
  if (actions.length === 0) errors.push(required(path, "at least one validation action is required"));
  return errors;
}
