import type { Controller, ScopedKind } from "../controller/controller.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject } from "../kinds/object.js";
import type { Workload } from "./manager.js";

/** What a controller may do to a kind that it does not own; `status` patches the status subresource. */
export type WriteVerb = "create" | "update" | "patch" | "delete" | "status";

/** A kind of `uses` that is also written; {@link writing} makes one. */
export interface WrittenKind<K extends Kind = Kind> extends ScopedKind<K> {
  readonly writes: readonly WriteVerb[];
}

/**
 * Declares that a controller writes objects of a kind that it does not own, so that RBAC allows for it.
 *
 * ```ts
 * uses: [writing(Namespace, ["patch"])],
 * ```
 */
export function writing<K extends Kind>(
  kind: K,
  writes: readonly WriteVerb[],
  scope: Omit<ScopedKind<K>, "kind"> = {},
): WrittenKind<K> {
  return { kind, writes, ...scope };
}

/** One rule of a Role or ClusterRole, with the place that it holds in. */
export interface RbacRule {
  /** The cluster by the manager's name for it; the own where left out. */
  readonly cluster?: string;
  /** A Role in this namespace; a ClusterRole where left out. */
  readonly namespace?: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface RbacOptions {
  /** Where the process elects a leader: the Lease's name and namespace. */
  readonly leaderElection?: { readonly name: string; readonly namespace: string };
  /** Whether the manager asks the API server who may see metrics: `metricsAccess: "rbac"`. */
  readonly reviewsAccess?: boolean;
}

const READ = ["get", "list", "watch"];
const VERB_ORDER = [...READ, "create", "update", "patch", "delete"];

/**
 * The least that these workloads need: reading the kinds that they declare, in the namespaces that they declare; writing
 * what they own or say that they write; the status of kinds that have one; finalizers where they hold any; events; the
 * Lease. Pure: the same workloads always give the same rules, in the same order.
 */
export function rbacRules(workloads: readonly Workload[], options: RbacOptions = {}): readonly RbacRule[] {
  const rules = workloads.flatMap((workload) =>
    workload.type === "controller"
      ? controllerRules(workload)
      : [
          ...inScope({ kind: workload.kind }, workload.options.namespaces, READ),
          ...(workload.finalizer ? inScope({ kind: workload.kind }, workload.options.namespaces, ["patch"]) : []),
        ],
  );
  const own = merged(rules);
  if (options.leaderElection) own.push(...leaseRules(options.leaderElection));
  if (options.reviewsAccess) {
    own.push({ apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] });
    own.push({ apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] });
  }
  return own;
}

// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
function controllerRules(controller: Controller<any>): RbacRule[] {
  const { kind, namespaces, owns, uses, watches, finalize } = controller;
  const self: ScopedKind = { kind };
  const rules = inScope(self, namespaces, READ);
  if (finalize) rules.push(...inScope(self, namespaces, ["patch"]));
  if (hasStatus(kind)) rules.push(...inScope(self, namespaces, ["patch"], "status"));
  // Owner references that block the owner's deletion ask for this where that admission plug-in is on.
  if (owns.length > 0) rules.push(...inScope(self, namespaces, ["update"], "finalizers"));
  for (const use of owns) rules.push(...inScope(use, namespaces, [...READ, "create", "patch", "delete"]));
  for (const use of [...uses, ...watches]) rules.push(...inScope(use, namespaces, READ));
  for (const use of uses) {
    for (const verb of writesOf(use)) {
      const isStatus = verb === "status";
      rules.push(...inScope(use, namespaces, [isStatus ? "patch" : verb], isStatus ? "status" : undefined));
    }
  }
  return [...rules, ...eventRules(kind, namespaces)];
}

/** Events of objects without a namespace go to `default`. */
function eventRules({ scope }: Kind, namespaces: readonly string[] | undefined): RbacRule[] {
  const rule = { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] };
  if (scope === "Cluster") return [{ ...rule, namespace: "default" }];
  return namespaces?.map((namespace) => ({ ...rule, namespace })) ?? [rule];
}

function leaseRules({ name, namespace }: NonNullable<RbacOptions["leaderElection"]>): readonly RbacRule[] {
  const lease = { namespace, apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  // A name cannot be asked for at creation: it is not known yet when the request is allowed.
  return [
    { ...lease, verbs: ["create"] },
    { ...lease, resourceNames: [name], verbs: ["get", "update"] },
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

/** One rule for each resource and place, with the verbs of all. */
function merged(rules: readonly RbacRule[]): RbacRule[] {
  const byPlace = new Map<string, RbacRule>();
  for (const rule of rules) {
    const id = JSON.stringify([rule.cluster, rule.namespace, rule.apiGroups, rule.resources]);
    const verbs = new Set([...(byPlace.get(id)?.verbs ?? []), ...rule.verbs]);
    byPlace.set(id, { ...rule, verbs: VERB_ORDER.filter((verb) => verbs.has(verb)) });
  }
  return [...byPlace.values()].filter((rule) => !isCovered(rule, byPlace));
}

/** What all namespaces grant, one need not grant again. */
function isCovered(rule: RbacRule, byPlace: ReadonlyMap<string, RbacRule>): boolean {
  if (rule.namespace === undefined) return false;
  const everywhere = byPlace.get(JSON.stringify([rule.cluster, undefined, rule.apiGroups, rule.resources]));
  return everywhere !== undefined && rule.verbs.every((verb) => everywhere.verbs.includes(verb));
}

function writesOf(use: ScopedKind): readonly WriteVerb[] {
  return "writes" in use ? (use as WrittenKind).writes : [];
}

/** Kinds of `resource(…)` say whether they have a status; of others nobody is assumed to write it. */
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
  // What holds everywhere comes first, as the place without a name.
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
