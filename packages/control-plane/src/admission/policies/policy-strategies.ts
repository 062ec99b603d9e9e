import type { KubeObject } from "setpoint";
import { BOOL, NULL, STRING, type Type } from "../../cel/types/type.js";
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "../../registry/field-error.js";
import { dnsSubdomain, pathSegmentName, qualifiedName } from "../../registry/metadata/name-rules.js";
import type { FieldError } from "../../registry/status-error.js";
import type { Strategy } from "../../registry/strategy.js";
import { type AdmissionScope, admissionExpression } from "../expressions/admission-expression.js";
import { conditionErrors, expressionErrors } from "../expressions/expression-errors.js";
import { ruleErrors } from "../webhooks/webhook-strategies.js";
import type {
  MatchResources,
  NamedRule,
  ParamRef,
  PolicyBinding,
  PolicyValidation,
  ValidatingPolicy,
} from "./policy.js";

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS = ["Audit", "Deny", "Warn"];

type Validation = Pick<Strategy, "validate" | "validateUpdate">;

/** What the server refuses of policies. */
export const policyStrategy: Validation = strategyOf((object) => policyErrors(object as ValidatingPolicy));

/** What the server refuses of their bindings. */
export const bindingStrategy: Validation = strategyOf((object) => bindingErrors(object as PolicyBinding));

function strategyOf(errorsOf: (object: KubeObject) => readonly FieldError[]): Validation {
  return {
    validate: errorsOf,
    validateUpdate: (object, _old, { subresource }) => (subresource === "" ? errorsOf(object) : []),
  };
}

function policyErrors({ spec, metadata }: ValidatingPolicy): readonly FieldError[] {
  const { paramKind, matchConstraints, failurePolicy, variables, validations, auditAnnotations } = spec;
  const errors: FieldError[] = [];
  if (failurePolicy !== undefined && !["Fail", "Ignore"].includes(failurePolicy)) {
    errors.push(notSupported("spec.failurePolicy", failurePolicy, ["Fail", "Ignore"]));
  }
  if (paramKind) {
    if (!paramKind.apiVersion) errors.push(required("spec.paramKind.apiVersion"));
    if (!paramKind.kind) errors.push(required("spec.paramKind.kind"));
  }
  if (!matchConstraints) errors.push(required("spec.matchConstraints"));
  else {
    errors.push(...matchErrors(matchConstraints, "spec.matchConstraints"));
    if (!matchConstraints.resourceRules?.length) errors.push(required("spec.matchConstraints.resourceRules"));
  }
  const base: AdmissionScope = { hasParams: Boolean(paramKind), hasAuthorizer: true };
  errors.push(...conditionErrors(spec.matchConditions ?? [], "spec.matchConditions", base));
  const types = new Map<string, Type>();
  for (const [index, { name = "", expression = "" }] of (variables ?? []).entries()) {
    const path = `spec.variables[${index}]`;
    errors.push(...variableErrors(name, expression, path, { ...base, variables: new Map(types) }));
    types.set(name, admissionExpression(expression, { ...base, variables: new Map(types) }).type);
  }
  const scope = variables?.length ? { ...base, variables: types } : base;
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
    const full = `${metadata.name}/${key}`;
    errors.push(...qualifiedName(full).map((why) => invalidValue(`${path}.key`, full, why)));
    if (valueExpression.trim() === "") {
      errors.push(required(`${path}.valueExpression`, "valueExpression is not specified"));
    } else errors.push(...expressionErrors(valueExpression, `${path}.valueExpression`, scope, [STRING, NULL]));
    if (keys.has(key)) errors.push(duplicate(`${path}.key`, key));
    keys.add(key);
  }
  return errors;
}

function variableErrors(name: string, expression: string, path: string, scope: AdmissionScope): readonly FieldError[] {
  const errors: FieldError[] = [];
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
  const errors: FieldError[] = [];
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
  const errors: FieldError[] = [];
  const { matchPolicy } = match;
  if (matchPolicy !== undefined && !["Equivalent", "Exact"].includes(matchPolicy)) {
    errors.push(notSupported(`${path}.matchPolicy`, matchPolicy, ["Equivalent", "Exact"]));
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

function bindingErrors({ spec }: PolicyBinding): readonly FieldError[] {
  const { policyName = "", paramRef, matchResources, validationActions } = spec;
  return [
    ...(policyName === ""
      ? [required("spec.policyName")]
      : dnsSubdomain(policyName).map((why) => invalidValue("spec.policyName", policyName, why))),
    ...(paramRef ? paramRefErrors(paramRef, "spec.paramRef") : []),
    ...(matchResources ? matchErrors(matchResources, "spec.matchResources") : []),
    ...actionErrors(validationActions ?? [], "spec.validationActions"),
  ];
}

function paramRefErrors({ name, selector, parameterNotFoundAction }: ParamRef, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const exclusive = "name and selector are mutually exclusive";
  if (name) {
    errors.push(...pathSegmentName(name, false).map((why) => invalidValue(`${path}.name`, name, why)));
    if (selector) errors.push(forbiddenField(`${path}.name`, exclusive), forbiddenField(`${path}.selector`, exclusive));
  } else if (!selector) errors.push(required(path, "one of name or selector must be specified"));
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
