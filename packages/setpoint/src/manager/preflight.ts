import type { App } from "../app/app.js";
import type { Client } from "../client/client.js";
import type { Loop } from "../controller/loop.js";
import type { RbacRule } from "../controller/rbac-rule.js";
import { SelfSubjectAccessReview } from "../kinds/builtin/authorization.k8s.io/v1.js";
import { type Kind, kindId } from "../kinds/kind.js";
import { ownField } from "../kinds/own-field.js";
import type { Logger } from "../loop/logger.js";
import { declaredKinds } from "./declared-kinds.js";
import { type RbacOptions, rbacRules } from "./rbac.js";

/** Something that loops need and lack. `message` names it. */
export type PreflightFinding =
  /** The server does not serve a declared kind: its definition is not installed, or has another version. */
  | { readonly type: "kind"; readonly message: string; readonly kind: Kind; readonly cluster?: string }
  /** This account lacks permissions on a kind. `rules` grant exactly the missing ones. */
  | { readonly type: "permission"; readonly message: string; readonly rules: readonly RbacRule[] }
  /** A server did not answer. */
  | { readonly type: "unknown"; readonly message: string; readonly cluster?: string; readonly cause: unknown };

export interface PreflightOptions extends RbacOptions {
  readonly client: Client;
  readonly clusters?: Readonly<Record<string, Client>>;
  readonly signal?: AbortSignal;
}

/** How many access reviews run at a time. */
const AT_ONCE = 8;

/**
 * What prevents these loops from working: kinds that are not served, verbs that are not allowed. Empty if everything is
 * fine. Never rejects because of a server's response.
 *
 * ```ts
 * for (const { message } of await preflight([websites], { client })) console.error(message);
 * ```
 */
export async function preflight(
  loops: readonly (Loop | App)[],
  options: PreflightOptions,
): Promise<readonly PreflightFinding[]> {
  const rules = rbacRules(loops, options);
  const names = new Set<string | undefined>([undefined, ...rules.map(({ cluster }) => cluster)]);
  const findings = await Promise.all(
    [...names].map(async (cluster) => {
      const client = cluster === undefined ? options.client : ownField(options.clusters, cluster);
      if (!client) return [];
      try {
        const own = rules.filter((rule) => rule.cluster === cluster);
        const unserved = await unservedKinds(client, loops, cluster, options.signal);
        return [...unserved, ...(await deniedKinds(client, own, options.signal))];
      } catch (cause) {
        options.signal?.throwIfAborted();
        return [unknown(cause, cluster)];
      }
    }),
  );
  return findings.flat();
}

async function unservedKinds(
  client: Client,
  loops: readonly (Loop | App)[],
  cluster: string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly PreflightFinding[]> {
  const discovery = await client.discover(signal ? { signal } : {});
  const served = new Set(
    discovery.groups.flatMap(({ name: group, versions }) =>
      versions.flatMap(({ version, resources }) => resources.map(({ plural }) => `${group}/${version}/${plural}`)),
    ),
  );
  return declaredKinds(loops, cluster)
    .filter(({ group, version, plural }) => !served.has(`${group}/${version}/${plural}`))
    .map((kind) => {
      const message = `the server does not serve ${kind.plural} of ${kind.apiVersion}${inCluster(cluster)}: install its CustomResourceDefinition`;
      return { type: "kind", message, kind, ...(cluster === undefined ? {} : { cluster }) };
    });
}

/** One finding for each kind and place. */
async function deniedKinds(
  client: Client,
  rules: readonly RbacRule[],
  signal: AbortSignal | undefined,
): Promise<readonly PreflightFinding[]> {
  const questions = rules
    .flatMap((rule) => rule.apiGroups.map((group) => ({ ...rule, apiGroups: [group] })))
    .flatMap((rule) => rule.resources.map((resource) => ({ ...rule, resources: [resource] })))
    .flatMap((rule) => rule.resourceNames?.map((name) => ({ ...rule, resourceNames: [name] })) ?? [rule])
    .flatMap((rule) => rule.verbs.map((verb) => ({ rule, verb })));
  const denied = new Map<string, Map<string, RbacRule>>();
  for (let at = 0; at < questions.length; at += AT_ONCE) {
    const some = questions.slice(at, at + AT_ONCE);
    const answers = await Promise.all(some.map(({ rule, verb }) => isAllowed(client, rule, verb, signal)));
    for (const [index, { rule, verb }] of some.entries()) if (!answers[index]) addTo(denied, rule, verb);
  }
  return [...denied.values()].map((byResource) => {
    const rules = [...byResource.values()];
    return { type: "permission", message: `this account may not ${describe(rules)}`, rules };
  });
}

/** The subresources and single objects of a kind belong to its finding, each with the missing verbs. */
function addTo(denied: Map<string, Map<string, RbacRule>>, rule: RbacRule, verb: string): void {
  const { namespace, apiGroups, resources, resourceNames } = rule;
  const kind = JSON.stringify([namespace, apiGroups, resources[0]!.split("/")[0]]);
  const byResource = denied.get(kind) ?? new Map<string, RbacRule>();
  const resource = JSON.stringify([resources, resourceNames]);
  const verbs = new Set([...(byResource.get(resource)?.verbs ?? []), verb]);
  denied.set(kind, byResource.set(resource, { ...rule, verbs: [...verbs] }));
}

async function isAllowed(
  client: Client,
  rule: RbacRule,
  verb: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const [resource = "", subresource] = rule.resources[0]!.split("/");
  const resourceAttributes = {
    verb,
    group: rule.apiGroups[0]!,
    resource,
    ...(subresource ? { subresource } : {}),
    ...(rule.namespace ? { namespace: rule.namespace } : {}),
    ...(rule.resourceNames ? { name: rule.resourceNames[0]! } : {}),
  };
  const review = { metadata: {}, spec: { resourceAttributes } };
  const { status } = await client.create(SelfSubjectAccessReview, review, signal ? { signal } : {});
  return status?.allowed === true;
}

function unknown(cause: unknown, cluster: string | undefined): PreflightFinding {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `could not check kinds and permissions${inCluster(cluster)}: ${why}`;
  return { type: "unknown", message, cause, ...(cluster === undefined ? {} : { cluster }) };
}

/** `get, list websites.web.example.com, nor patch websites.web.example.com/status in the namespace team`, of one place. */
function describe(rules: readonly RbacRule[]): string {
  const needs = rules.map(({ verbs, apiGroups, resources, resourceNames }) => {
    const [resource, subresource] = resources[0]!.split("/");
    const group = apiGroups[0] ? `.${apiGroups[0]}` : "";
    const below = subresource ? `/${subresource}` : "";
    const name = resourceNames ? ` ${resourceNames[0]}` : "";
    return `${verbs.join(", ")} ${resource}${group}${below}${name}`;
  });
  const { cluster, namespace } = rules[0]!;
  return `${needs.join(", nor ")}${namespace ? ` in the namespace ${namespace}` : ""}${inCluster(cluster)}`;
}

function inCluster(cluster: string | undefined): string {
  return cluster === undefined ? "" : ` of the cluster ${cluster}`;
}

export function logFindings(findings: readonly PreflightFinding[], log: Logger): void {
  for (const { message, ...finding } of findings) {
    const fields = finding.type === "kind" ? { ...finding, kind: kindId(finding.kind) } : finding;
    log.warn(`preflight: ${message}`, fields);
  }
}
