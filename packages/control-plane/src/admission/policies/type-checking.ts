import { celType, declaredType } from "../../cel/schema/declared-type.js";
import { DYN, type Type } from "../../cel/types/type.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { type AdmissionScope, admissionExpression } from "../expressions/admission-expression.js";
import type { NamedRule, ValidatingPolicy } from "./policy.js";

/** The type errors of one expression of a policy. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** Looks up served kinds. */
export interface ServedKinds {
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  findKind(apiVersion: string, kind: string): ResourceDefinition | undefined;
}

const MAX_TYPES = 10;
const COMPILED = "compilation failed: ";

/**
 * Type-checks the expressions of a policy against the schemas of the kinds that it names. Skips wildcards. Errors deny
 * no request: they appear in the status of the policy.
 */
export function expressionWarnings(policy: ValidatingPolicy, kinds: ServedKinds): readonly ExpressionWarning[] {
  const definitions = matchedKinds(policy, kinds);
  const { paramKind, validations } = policy.spec;
  const params = paramKind ? kinds.findKind(paramKind.apiVersion, paramKind.kind) : undefined;
  const warningAt = (fieldRef: string, expression: string): readonly ExpressionWarning[] => {
    const found = definitions.flatMap((definition) => {
      const error = issueOf(expression, scopeOf(policy, typeOf(definition), typeOf(params)));
      return error === undefined ? [] : [`${shownKind(definition)}: ${error}\n`];
    });
    return found.length === 0 ? [] : [{ fieldRef, warning: found.join("\n") }];
  };
  return (validations ?? []).flatMap(({ expression, messageExpression }, index) => [
    ...warningAt(`spec.validations[${index}].expression`, expression),
    ...(messageExpression ? warningAt(`spec.validations[${index}].messageExpression`, messageExpression) : []),
  ]);
}

function matchedKinds({ spec }: ValidatingPolicy, kinds: ServedKinds): readonly ResourceDefinition[] {
  const found = new Set<ResourceDefinition>();
  for (const rule of spec.matchConstraints?.resourceRules ?? []) {
    for (const definition of ruleKinds(rule, kinds)) if (found.size < MAX_TYPES) found.add(definition);
  }
  return [...found].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
}

function ruleKinds(rule: NamedRule, kinds: ServedKinds): readonly ResourceDefinition[] {
  const [groups, versions] = [rule.apiGroups ?? [], rule.apiVersions ?? []];
  if ([...groups, ...versions].some((name) => name.includes("*"))) return [];
  const plurals = (rule.resources ?? []).filter((name) => !/[*/]/.test(name));
  return [...groups]
    .sort()
    .flatMap((group) =>
      [...versions]
        .sort()
        .flatMap((version) => [...plurals].sort().flatMap((plural) => kinds.find(group, version, plural) ?? [])),
    );
}

const sortKey = ({ group, version, kind }: ResourceDefinition): string => `${group}\0${version}\0${kind}`;
const shownKind = ({ group, version, kind }: ResourceDefinition): string => `${group}/${version}, Kind=${kind}`;

function typeOf(definition: ResourceDefinition | undefined): Type {
  const declared = definition?.schema && declaredType(definition.schema, true);
  return declared ? celType(declared, definition!.kind) : DYN;
}

/** A variable that does not compile can have any type. */
function scopeOf({ spec }: ValidatingPolicy, object: Type, params: Type): AdmissionScope {
  const base = { hasParams: Boolean(spec.paramKind), hasAuthorizer: true, types: { object, params } };
  const variables = new Map<string, Type>();
  for (const { name, expression } of spec.variables ?? []) {
    variables.set(name, admissionExpression(expression, { ...base, variables: new Map(variables) }).type);
  }
  return { ...base, variables };
}

function issueOf(expression: string, scope: AdmissionScope): string | undefined {
  const { error } = admissionExpression(expression, scope);
  return error?.startsWith(COMPILED) ? error.slice(COMPILED.length) : error;
}
