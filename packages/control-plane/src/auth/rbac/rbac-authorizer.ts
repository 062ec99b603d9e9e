import type { AccessAttributes, AccessDecision, Authorizer, UserInfo } from "../../api/user.js";
import { type PolicyRule, ruleAllows } from "./policy-rule.js";
import type { RoleIndex } from "./role-index.js";

/** Members of this group may do anything, without any rule. */
export const SYSTEM_MASTERS = "system:masters";

/** Role-based access control by the stored roles and bindings. */
export class RbacAuthorizer implements Authorizer {
  readonly #roles: RoleIndex;

  constructor(roles: RoleIndex) {
    this.#roles = roles;
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    const { user } = attributes;
    if (user.groups.includes(SYSTEM_MASTERS)) return { allowed: true, reason: "" };
    const missing: string[] = [];
    for (const { source, rules } of this.#roles.grants(user, namespaceOf(attributes))) {
      if (typeof rules === "string") missing.push(rules);
      else if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { allowed: true, reason: `RBAC: allowed by ${source()}` };
      }
    }
    return { allowed: false, reason: missing.length === 0 ? "" : `RBAC: ${aggregated(missing)}` };
  }

  /** All rules of a user in a namespace, and errors such as missing roles. */
  rulesFor(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string } {
    const found: PolicyRule[] = [];
    const missing: string[] = [];
    for (const { rules } of this.#roles.grants(user, namespace)) {
      if (typeof rules === "string") missing.push(rules);
      else found.push(...rules);
    }
    return { rules: found, error: missing.length === 0 ? "" : aggregated(missing) };
  }
}

function namespaceOf(attributes: AccessAttributes): string {
  return attributes.type === "resource" ? attributes.namespace : "";
}

/** Joins several errors like Go's aggregate error. */
function aggregated(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(", ")}]`;
}
