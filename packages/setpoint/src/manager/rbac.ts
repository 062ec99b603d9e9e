import { type App, isServed } from "../app/app.js";
import type { Controller, ScopedKind, WriteVerb } from "../controller/controller.js";
import type { Loop } from "../controller/loop.js";
import type { RbacRule } from "../controller/rbac-rule.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject } from "../kinds/object.js";
import { followed } from "./declared-kinds.js";
import { appsOf, loopsOf } from "./loops.js";

export interface RbacOptions {
  /** With leader election: the Lease's namespace, and its name if known. */
  readonly leaderElection?: { readonly name?: string; readonly namespace: string };
  /** Whether the manager authorizes metrics callers through the API server: `metricsAccess: "rbac"`. */
  readonly reviewsAccess?: boolean;
  /** Whether the process installs the kinds and webhooks of its apps. Defaults to yes; no with `install: false`. */
  readonly installs?: boolean;
  /** The Service of the apps' webhooks, whose certificate is in a Secret. */
  readonly service?: { readonly namespace: string; readonly name: string };
}

const READ = ["get", "list", "watch"];
const VERB_ORDER = [...READ, "create", "update", "patch", "delete"];

/**
 * The minimal permissions of these loops: reading declared kinds in declared namespaces; writing what they own or
 * declare to write; the status of kinds that have one; finalizers if they set any; events; installing kinds and
 * webhooks of apps; the Lease; and their own `permissions`. Pure: the same loops always give the same rules in the same
 * order.
 */
export function rbacRules(loops: readonly (Loop | App)[], options: RbacOptions = {}): readonly RbacRule[] {
  const apps = appsOf(loops);
  const own = merged([
    ...loopsOf(loops).flatMap(loopRules),
    ...apps.flatMap(({ givenUp }) => givenUp.flatMap(({ kind }) => inScope({ kind }, undefined, ["list", "patch"]))),
  ]);
  own.push(...[...loopsOf(loops), ...apps].flatMap(({ permissions }) => permissions));
  // Children in another cluster identify the owner's cluster by the uid of this namespace.
  if (loopsOf(loops).some(ownsElsewhere)) {
    own.push({ apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"] });
  }
  if (options.leaderElection) own.push(...leaseRules(options.leaderElection));
  if (options.installs ?? true) own.push(...apps.flatMap(installRules));
  if (options.service && apps.some(isServed)) own.push(...certificateRules(options.service));
  if (options.reviewsAccess || apps.some(({ routes }) => routes.length > 0)) {
    own.push({ apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] });
    own.push({ apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] });
  }
  return own;
}

function ownsElsewhere(loop: Loop): boolean {
  return loop.type === "controller" && loop.owns.some(({ cluster }) => cluster !== undefined);
}

function loopRules(loop: Loop): RbacRule[] {
  if (loop.type === "controller") return controllerRules(loop);
  const { kind, options, finalizer } = loop;
  const namespaces = options.namespaces === "all" ? undefined : options.namespaces;
  return inScope({ kind }, namespaces, finalizer ? [...READ, "patch"] : READ);
}

/**
 * The definitions of its kinds and its webhooks, by name; `create` cannot be limited to a name. Includes deleting
 * former webhooks of the app, even if it has none now.
 */
function installRules(app: App): readonly RbacRule[] {
  const named = (
    group: string,
    resource: string,
    names: readonly string[],
    verbs: readonly string[],
    isMade = true,
  ) => {
    const rule = { apiGroups: [group], resources: [resource] };
    return [...(isMade ? [{ ...rule, verbs: ["create"] }] : []), { ...rule, resourceNames: names, verbs }];
  };
  const webhooks = (resource: string, isNeeded: boolean): readonly RbacRule[] => {
    const verbs = isNeeded ? [...READ, "patch", "delete"] : ["get", "delete"];
    return named("admissionregistration.k8s.io", resource, [app.name], verbs, isNeeded);
  };
  const definitions = app.kinds.map(({ plural, group }) => `${plural}.${group}`);
  const rules: RbacRule[] = [];
  if (definitions.length > 0)
    rules.push(...named("apiextensions.k8s.io", "customresourcedefinitions", definitions, [...READ, "update"]));
  if (isServed(app)) {
    rules.push(...webhooks("validatingwebhookconfigurations", app.validators.length > 0));
    rules.push(...webhooks("mutatingwebhookconfigurations", app.mutators.length > 0));
  }
  return rules;
}

function certificateRules({ namespace, name }: NonNullable<RbacOptions["service"]>): readonly RbacRule[] {
  const secrets = { namespace, apiGroups: [""], resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [`${name}-webhook-certificate`], verbs: ["get", "update"] },
  ];
}

// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
function controllerRules(controller: Controller<any>): RbacRule[] {
  const { kind, namespaces, owns, uses, watches, finalize, writes } = controller;
  const self: ScopedKind = { kind, writes };
  const rules = [...inScope(self, namespaces, READ), ...writeRules(self, namespaces)];
  if (finalize) rules.push(...inScope(self, namespaces, ["patch"]));
  if (hasStatus(kind)) rules.push(...inScope(self, namespaces, ["patch"], "status"));
  // The admission plug-in OwnerReferencesPermissionEnforcement requires this for owner references that block deletion.
  if (owns.length > 0) rules.push(...inScope(self, namespaces, ["update"], "finalizers"));
  for (const use of owns) rules.push(...inScope(use, namespaces, [...READ, "create", "patch", "delete"]));
  for (const use of [...uses, ...watches, ...followed(controller)]) rules.push(...inScope(use, namespaces, READ));
  for (const use of uses) rules.push(...writeRules(use, namespaces));
  return [...rules, ...eventRules(kind, namespaces)];
}

function writeRules(use: ScopedKind, namespaces: readonly string[] | undefined): RbacRule[] {
  const rulesOf = (verb: WriteVerb): RbacRule[] =>
    verb === "status" ? inScope(use, namespaces, ["patch"], "status") : inScope(use, namespaces, [verb]);
  return (use.writes ?? []).flatMap(rulesOf);
}

/** Events of cluster-scoped objects go to `default`. */
function eventRules({ scope }: Kind, namespaces: readonly string[] | undefined): RbacRule[] {
  const rule = { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] };
  if (scope === "Cluster") return [{ ...rule, namespace: "default" }];
  return namespaces?.map((namespace) => ({ ...rule, namespace })) ?? [rule];
}

function leaseRules({ name, namespace }: NonNullable<RbacOptions["leaderElection"]>): readonly RbacRule[] {
  const lease = { namespace, apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  // `create` cannot be limited to a name, which is unknown at authorization.
  return [
    { ...lease, verbs: ["create"] },
    { ...lease, ...(name === undefined ? {} : { resourceNames: [name] }), verbs: ["get", "update"] },
  ];
}

function inScope(
  { kind, cluster, namespaces = [] }: ScopedKind,
  own: readonly string[] | undefined,
  verbs: readonly string[],
  subresource?: string,
): RbacRule[] {
  const rule = {
    ...(cluster === undefined ? {} : { cluster }),
    apiGroups: [kind.group],
    resources: [subresource ? `${kind.plural}/${subresource}` : kind.plural],
    verbs,
  };
  const scope = namespaces === "all" ? undefined : namespaces.length > 0 ? namespaces : own;
  if (kind.scope === "Cluster" || scope === undefined) return [rule];
  return scope.map((namespace) => ({ ...rule, namespace }));
}

/** One rule per resource and place, with all verbs. */
function merged(rules: readonly RbacRule[]): RbacRule[] {
  const byPlace = new Map<string, RbacRule>();
  for (const rule of rules) {
    const id = JSON.stringify([rule.cluster, rule.namespace, rule.apiGroups, rule.resources]);
    const verbs = new Set([...(byPlace.get(id)?.verbs ?? []), ...rule.verbs]);
    byPlace.set(id, { ...rule, verbs: VERB_ORDER.filter((verb) => verbs.has(verb)) });
  }
  return [...byPlace.values()].filter((rule) => !isCovered(rule, byPlace));
}

/** A cluster-wide rule covers the same rule in a namespace. */
function isCovered(rule: RbacRule, byPlace: ReadonlyMap<string, RbacRule>): boolean {
  if (rule.namespace === undefined) return false;
  const everywhere = byPlace.get(JSON.stringify([rule.cluster, undefined, rule.apiGroups, rule.resources]));
  return everywhere !== undefined && rule.verbs.every((verb) => everywhere.verbs.includes(verb));
}

/** Kinds of `resource(…)` say whether they have a status. For other kinds no status writes are assumed. */
function hasStatus(kind: Kind): boolean {
  const { declaration } = kind as Kind & { readonly declaration?: { readonly hasStatus: boolean } };
  return declaration?.hasStatus === true;
}

export interface RbacManifestOptions {
  /** Of the ServiceAccount, roles and bindings. */
  readonly name: string;
  /** Where the ServiceAccount lives. */
  readonly namespace: string;
  /** For the rules of this other cluster; the own where left out. */
  readonly cluster?: string;
}

/** A ServiceAccount with exactly these rules: objects to apply. */
export function rbacManifests(rules: readonly RbacRule[], options: RbacManifestOptions): readonly JsonObject[] {
  const { name, namespace } = options;
  const own = rules.filter(({ cluster }) => cluster === options.cluster);
  // Cluster-wide rules come first, as the place without a name.
  const places = [...new Set(own.map((rule) => rule.namespace ?? ""))].sort();
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const roles = places.flatMap((place): readonly JsonObject[] => {
    const prefix = place === "" ? "Cluster" : "";
    const metadata = place === "" ? { name } : { name, namespace: place };
    const apiVersion = "rbac.authorization.k8s.io/v1";
    return [
      {
        apiVersion,
        kind: `${prefix}Role`,
        metadata,
        rules: own.filter((rule) => (rule.namespace ?? "") === place).map(policyRule),
      },
      {
        apiVersion,
        kind: `${prefix}RoleBinding`,
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${prefix}Role`, name },
        subjects,
      },
    ];
  });
  return [account, ...roles];
}

function policyRule({ apiGroups, resources, resourceNames, verbs }: RbacRule): JsonObject {
  return { apiGroups, resources, ...(resourceNames ? { resourceNames } : {}), verbs };
}
