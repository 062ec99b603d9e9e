import { type Client, type RbacRule, rbacRules, type Workload } from "setpoint";
import { SelfSubjectAccessReview } from "setpoint/kinds/authorization.k8s.io/v1";

export interface PreflightOptions {
  readonly client: Client;
  readonly clusters: Readonly<Record<string, Client>>;
  /** Where the process elects a leader. */
  readonly leaderElection?: { readonly name: string; readonly namespace: string };
}

/**
 * What this account may not do of all that the workloads need, in words; empty where nothing is missing. Servers answer
 * this question to everybody.
 */
export async function missingPermissions(
  workloads: readonly Workload[],
  { client, clusters, leaderElection }: PreflightOptions,
): Promise<readonly string[]> {
  const rules = rbacRules(workloads, leaderElection ? { leaderElection } : {});
  const questions = rules.flatMap((rule) => rule.verbs.map((verb) => ({ rule, verb })));
  const answers = await Promise.all(
    questions.map(async ({ rule, verb }) => {
      const at = rule.cluster === undefined ? client : clusters[rule.cluster];
      return at && !(await isAllowed(at, rule, verb)) ? describe(rule, verb) : undefined;
    }),
  );
  return answers.filter((answer) => answer !== undefined);
}

async function isAllowed(client: Client, rule: RbacRule, verb: string): Promise<boolean> {
  const [resource = "", subresource] = rule.resources[0]!.split("/");
  const resourceAttributes = {
    verb,
    group: rule.apiGroups[0]!,
    resource,
    ...(subresource ? { subresource } : {}),
    ...(rule.namespace ? { namespace: rule.namespace } : {}),
    ...(rule.resourceNames ? { name: rule.resourceNames[0]! } : {}),
  };
  const { status } = await client.create(SelfSubjectAccessReview, { metadata: {}, spec: { resourceAttributes } });
  return status?.allowed === true;
}

function describe({ cluster, namespace, apiGroups, resources }: RbacRule, verb: string): string {
  const group = apiGroups[0] ? `.${apiGroups[0]}` : "";
  const place = namespace ? ` in the namespace ${namespace}` : "";
  return `${verb} ${resources[0]}${group}${place}${cluster ? ` of the cluster ${cluster}` : ""}`;
}
