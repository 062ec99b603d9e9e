import type { KubeObject } from "setpoint";
import { pathSegmentName, subdomainName } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { invalidValue, notSupported, required } from "../../api/field-error.js";
import type { FieldError } from "../../api/status-error.js";
import type { Strategy } from "../../kinds/strategy.js";
import type { PolicyRule } from "./policy-rule.js";
import type { RoleRef } from "./role-index.js";

const GROUP = "rbac.authorization.k8s.io";

interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly unknown[] | null } | null;
}

interface Binding extends KubeObject {
  readonly roleRef?: RoleRef;
  readonly subjects?: readonly Subject[] | null;
}

interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Validation of roles and bindings, by plural. */
export const rbacStrategies: Readonly<Record<string, Pick<Strategy, "validate" | "validateUpdate">>> = {
  roles: alwaysValid((object) => ruleErrors(object as Role, true)),
  clusterroles: alwaysValid((object) => [...ruleErrors(object as Role, false), ...aggregationErrors(object as Role)]),
  rolebindings: bindingRules(["Role", "ClusterRole"], true),
  clusterrolebindings: bindingRules(["ClusterRole"], false),
};

function alwaysValid(
  errors: (object: KubeObject) => readonly FieldError[],
): Pick<Strategy, "validate" | "validateUpdate"> {
  return { validate: errors, validateUpdate: errors };
}

function ruleErrors({ rules }: Role, isNamespaced: boolean): readonly FieldError[] {
  return (rules ?? []).flatMap((rule, index) => {
    const path = `rules[${index}]`;
    const errors: FieldError[] = fieldErrors();
    if (!rule.verbs?.length) errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
    const urls = rule.nonResourceURLs ?? [];
    if (urls.length > 0) {
      const refuse = (why: string): number => errors.push(invalidValue(`${path}.nonResourceURLs`, urls, why));
      if (isNamespaced) refuse("namespaced rules cannot apply to non-resource URLs");
      if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
        refuse("rules cannot apply to both regular resources and non-resource URLs");
      }
      return errors;
    }
    if (!rule.apiGroups?.length) {
      errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
    }
    if (!rule.resources?.length) {
      errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
    }
    return errors;
  });
}

function aggregationErrors({ aggregationRule }: Role): readonly FieldError[] {
  if (!aggregationRule || aggregationRule.clusterRoleSelectors?.length) return [];
  const why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
  return [required("aggregationRule.clusterRoleSelectors", why)];
}

function bindingRules(kinds: readonly string[], isNamespaced: boolean): Pick<Strategy, "validate" | "validateUpdate"> {
  const errorsOf = (object: KubeObject): readonly FieldError[] => {
    const { roleRef, subjects } = object as Binding;
    return [
      ...roleRefErrors(roleRef, kinds),
      ...(subjects ?? []).flatMap((subject, index) => subjectErrors(subject, `subjects[${index}]`, isNamespaced)),
    ];
  };
  return {
    validate: errorsOf,
    validateUpdate: (object, old) => [...errorsOf(object), ...changedRole(object as Binding, old as Binding)],
  };
}

function roleRefErrors(roleRef: RoleRef | undefined, kinds: readonly string[]): readonly FieldError[] {
  const { apiGroup = "", kind = "", name = "" } = roleRef ?? {};
  return [
    ...(apiGroup === GROUP ? [] : [notSupported("roleRef.apiGroup", apiGroup, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported("roleRef.kind", kind, kinds)]),
    ...(name === ""
      ? [required("roleRef.name")]
      : pathSegmentName(name, false).map((why) => invalidValue("roleRef.name", name, why))),
  ];
}

function subjectErrors(subject: Subject, path: string, isNamespaced: boolean): readonly FieldError[] {
  const { kind = "", apiGroup = "", name = "", namespace = "" } = subject;
  const errors: FieldError[] = name === "" ? [required(`${path}.name`)] : [];
  if (kind === "ServiceAccount") {
    if (name !== "") errors.push(...subdomainName(name, false).map((why) => invalidValue(`${path}.name`, name, why)));
    if (apiGroup !== "") errors.push(notSupported(`${path}.apiGroup`, apiGroup, [""]));
    if (!isNamespaced && namespace === "") errors.push(required(`${path}.namespace`));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== GROUP) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [GROUP]));
  } else {
    errors.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  }
  return errors;
}

/** The roleRef of a binding is immutable. */
function changedRole({ roleRef: now }: Binding, { roleRef: before }: Binding): readonly FieldError[] {
  const isSame = now?.apiGroup === before?.apiGroup && now?.kind === before?.kind && now?.name === before?.name;
  if (isSame) return [];
  const shown = { APIGroup: now?.apiGroup ?? "", Kind: now?.kind ?? "", Name: now?.name ?? "" };
  return [invalidValue("roleRef", shown, "cannot change roleRef")];
}
