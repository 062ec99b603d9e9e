import type { Druid, DruidNode } from "../druid.js";

/** The label of all children of all clusters. The operator watches pods and claims by it. */
export const APP_LABEL = { app: "druid" } as const;
export const CLUSTER_LABEL = "druid_cr";
export const GROUP_LABEL = "nodeSpecUniqueStr";

export type Labels = Readonly<Record<string, string>>;

/** The name of a node group's workload, and the prefix of its other names. */
export function groupName(cluster: string, key: string): string {
  return `druid-${cluster}-${key}`;
}

export function clusterLabels(cluster: string): Labels {
  return { ...APP_LABEL, [CLUSTER_LABEL]: cluster };
}

/** Fixed labels override the user's labels because selectors rely on them. */
export function groupLabels(druid: Druid, key: string, node: DruidNode): Labels {
  const { name } = druid.metadata;
  return {
    ...druid.spec.podLabels,
    ...node.podLabels,
    ...clusterLabels(name),
    [GROUP_LABEL]: groupName(name, key),
    component: node.nodeType,
  };
}

export function labelSelector(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Replaces `%s` in the template by the group's name. Without a template, the name is the group's. */
export function serviceName(template: string | undefined, group: string): string {
  return template ? template.replace("%s", group) : group;
}
