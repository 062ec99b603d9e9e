import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "setpoint";
import { goQuote } from "../../api/go-format.js";
import { forbidden, notFound, type StatusError, unexpected } from "../../api/status-error.js";
import type { Authorizer, UserInfo } from "../../api/user.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";
import { compactRules, type PolicyRule, quotedList, ruleText, uncoveredRules } from "./policy-rule.js";
import { type RbacAuthorizer, SYSTEM_MASTERS } from "./rbac-authorizer.js";
import type { RoleIndex, RoleRef } from "./role-index.js";

const GROUP = "rbac.authorization.k8s.io";

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

interface RoleObject extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly unknown[] | null } | null;
}

/**
 * Prevents privilege escalation: denies a role or binding unless its writer holds all its rules, or has the verb
 * `escalate` (roles) or `bind` (bindings). The last mutating plugin, as in the real server.
 */
export function escalationCheck(
  roles: RoleIndex,
  rbac: RbacAuthorizer,
  authorizer: Authorizer = rbac,
): AdmissionPlugin {
  function confirm(attributes: AdmissionAttributes, wanted: readonly PolicyRule[]): string | undefined {
    const { user, namespace } = attributes;
    const held = rbac.rulesFor(user, namespace);
    const missing = uncoveredRules(held.rules, wanted);
    if (missing.length === 0) return undefined;
    const lines = [...new Set(compactRules(missing).map(ruleText))].sort();
    const errors = held.error === "" ? "" : `; resolution errors: [${held.error}]`;
    const who = `user ${goQuote(user.name)} (groups=${quotedList(user.groups)})`;
    return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}${errors}`;
  }

  function checkRole(attributes: AdmissionAttributes, role: RoleObject): void {
    const { user, namespace, name, definition } = attributes;
    const access = { type: "resource", group: GROUP, version: "*", resource: definition.plural } as const;
    const mayEscalate = {
      ...access,
      user,
      verb: "escalate",
      subresource: "",
      namespace,
      name: onUrl(attributes, name),
    };
    if (authorizer.authorize(mayEscalate).allowed) return;
    const why = confirm(attributes, role.rules ?? []);
    if (why !== undefined) throw refusal(attributes, why);
    const aggregates = hasAggregation(role) || hasAggregation(attributes.oldObject as RoleObject | undefined);
    if (definition.plural === "clusterroles" && aggregates && confirm(attributes, FULL_AUTHORITY) !== undefined) {
      throw refusal(attributes, "must have cluster-admin privileges to use the aggregationRule");
    }
  }

  function checkBinding(attributes: AdmissionAttributes, roleRef: RoleRef): void {
    if (mayBind(authorizer, attributes.user, roleRef, attributes.namespace)) return;
    const rules = roles.rulesOf(roleRef, attributes.namespace);
    if (typeof rules === "string") throw missingRole(attributes, roleRef, rules);
    const why = confirm(attributes, rules);
    if (why !== undefined) throw refusal(attributes, why);
  }

  return {
    name: "RBACEscalation",
    concerns: ({ definition }) => definition.group === GROUP,
    async mutate(attributes) {
      const { definition, subresource, operation, object, oldObject, user } = attributes;
      const isWrite = operation === "CREATE" || operation === "UPDATE";
      if (!isWrite || definition.group !== GROUP || subresource !== "" || !object) return object;
      if (user.groups.includes(SYSTEM_MASTERS) || changesOnlyOwnership(object, oldObject)) return object;
      if (definition.plural.endsWith("bindings"))
        checkBinding(attributes, (object as KubeObject & { roleRef: RoleRef }).roleRef);
      else checkRole(attributes, object);
      return object;
    },
  };
}

function hasAggregation(role: RoleObject | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/** The real server checks `escalate` by the name in the path. A create has none there. */
function onUrl({ operation }: AdmissionAttributes, name: string): string {
  return operation === "CREATE" ? "" : name;
}

function mayBind(authorizer: Authorizer, user: UserInfo, roleRef: RoleRef | undefined, namespace: string): boolean {
  if (roleRef?.kind !== "ClusterRole" && roleRef?.kind !== "Role") return false;
  return authorizer.authorize({
    type: "resource",
    user,
    verb: "bind",
    group: roleRef.apiGroup ?? GROUP,
    version: "*",
    resource: roleRef.kind === "ClusterRole" ? "clusterroles" : "roles",
    subresource: "",
    namespace,
    name: roleRef.name,
  }).allowed;
}

function refusal({ definition, object, name }: AdmissionAttributes, why: string): StatusError {
  return forbidden({ group: GROUP, resource: definition.plural }, object?.metadata.name ?? name, why);
}

/** The real server's 404 names the role as if it were a binding. */
function missingRole({ definition }: AdmissionAttributes, { kind, name }: RoleRef, why: string): StatusError {
  if (kind !== "ClusterRole" && kind !== "Role") return unexpected(why);
  return notFound({ group: GROUP, resource: definition.plural }, name);
}

/** Lets the garbage collector, which holds no rules, update owner references and finalizers of any object. */
function changesOnlyOwnership(object: KubeObject, oldObject: KubeObject | undefined): boolean {
  if (!oldObject) return false;
  const { ownerReferences, finalizers, managedFields } = oldObject.metadata;
  const metadata = { ...object.metadata, ownerReferences, finalizers, managedFields };
  return isDeepStrictEqual(JSON.parse(JSON.stringify({ ...object, metadata })), JSON.parse(JSON.stringify(oldObject)));
}
