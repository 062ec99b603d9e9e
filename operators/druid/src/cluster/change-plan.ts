import type { Druid } from "../druid.js";
import { type Child, childrenOf, HASH_ANNOTATION, type NodeGroup, type RenderedCluster } from "../rendering/render.js";
import { differing } from "./difference.js";
import { inOrder, isOlderImage } from "./order.js";
import type { ClusterSettings } from "./settings.js";

export interface GroupPlan {
  readonly group: string;
  /** `roll` replaces its pods; `update` and `scale` leave those that stay alone; `refuse`, `recreate`: it cannot be changed in place. */
  readonly action: "create" | "roll" | "scale" | "update" | "none" | "delete" | "refuse" | "recreate";
  readonly why: readonly string[];
}

export interface ChangePlan {
  readonly cluster: string;
  readonly order: string;
  readonly isDowngrade: boolean;
  /** In the order in which they would be updated. */
  readonly groups: readonly GroupPlan[];
  readonly created: readonly string[];
  readonly deleted: readonly string[];
  readonly updated: readonly string[];
}

interface Cluster {
  readonly druid: Druid;
  readonly rendered: RenderedCluster;
}

const IMMUTABLE = /^spec\.(selector|serviceName|podManagementPolicy|volumeClaimTemplates)/;

/** What a change of a Druid object would mean for its children. Pure. */
export function planChange(before: Cluster | undefined, after: Cluster, settings: ClusterSettings): ChangePlan {
  const [old, next] = [before ? childrenOf(before.rendered) : [], childrenOf(after.rendered)];
  const same = (a: Child) => (b: Child) => a.kind === b.kind && a.metadata.name === b.metadata.name;
  const title = ({ kind, metadata }: Child): string => `${kind} ${metadata.name}`;
  const groupOf = (key: string): NodeGroup | undefined => before?.rendered.groups.find((group) => group.key === key);
  const image = (group: NodeGroup | undefined) => group?.workload.spec.template.spec?.containers[0]?.image;
  const isDowngrade = after.rendered.groups.some((group) => isOlderImage(image(group), image(groupOf(group.key))));
  const groups = inOrder(after.rendered.groups, settings.rolloutOrder, isDowngrade).map((group) =>
    planGroup(groupOf(group.key), group, before, after, settings),
  );
  const gone =
    before?.rendered.groups.filter(({ key }) => !after.rendered.groups.some((group) => group.key === key)) ?? [];
  return {
    cluster: `${after.druid.metadata.namespace}/${after.druid.metadata.name}`,
    order: settings.rolloutOrder,
    isDowngrade,
    groups: [
      ...groups,
      ...gone.map(({ key }) => ({ group: key, action: "delete", why: ["it left the spec"] }) as const),
    ],
    created: next.filter((child) => !old.some(same(child))).map(title),
    deleted: old.filter((child) => !next.some(same(child))).map(title),
    updated: next.filter((child) => old.some((each) => same(child)(each) && hash(each) !== hash(child))).map(title),
  };
}

function planGroup(
  old: NodeGroup | undefined,
  group: NodeGroup,
  before: Cluster | undefined,
  after: Cluster,
  settings: ClusterSettings,
): GroupPlan {
  if (!old || !before) return { group: group.key, action: "create", why: [] };
  const paths = differing(bare(old.workload), bare(group.workload));
  const isConfig = ({ rendered }: Cluster): unknown => rendered.common.data;
  const config = [
    ...differing(isConfig(before), isConfig(after)).map((key) => `common configuration: ${key}`),
    ...differing(old.configMap.data, group.configMap.data).map((key) => `configuration: ${key}`),
  ];
  const why = [
    ...config,
    ...paths.filter((path) => !/containers\[0\]\.env\[\d+\]\.value$/.test(path) || config.length === 0),
  ];
  if (old.workload.kind !== group.workload.kind) return { group: group.key, action: "recreate", why: ["kind"] };
  if (paths.length === 0) return { group: group.key, action: "none", why: [] };
  const immutable = paths.filter((path) => IMMUTABLE.test(path));
  if (immutable.length > 0) return { group: group.key, action: settings.immutableChanges, why: immutable };
  const isRolled = paths.some((path) => path.startsWith("spec.template"));
  const isScaled = paths.every((path) => path === "spec.replicas");
  return { group: group.key, action: isRolled ? "roll" : isScaled ? "scale" : "update", why };
}

function hash({ metadata }: Child): string | undefined {
  return metadata.annotations?.[HASH_ANNOTATION];
}

function bare({ metadata, ...rest }: Child): unknown {
  const { [HASH_ANNOTATION]: _hash, ...annotations } = metadata.annotations ?? {};
  return { ...rest, metadata: { ...metadata, annotations } };
}

export function planText({
  cluster,
  order,
  isDowngrade,
  groups,
  created,
  deleted,
  updated,
}: ChangePlan): readonly string[] {
  let step = 0;
  const width = Math.max(0, ...groups.map(({ group }) => group.length));
  const rows = groups.map(({ group, action, why }) => {
    const number = action === "roll" || action === "update" ? `${++step}.` : "";
    return `  ${number.padEnd(3)} ${group.padEnd(width)}  ${action.padEnd(8)}  ${why.join(", ")}`.trimEnd();
  });
  const list = (what: string, names: readonly string[]) => (names.length > 0 ? [`  ${what}: ${names.join(", ")}`] : []);
  const direction = isDowngrade ? `${order}, reversed for a downgrade` : order;
  return [
    `Druid ${cluster} (order: ${direction})`,
    ...rows,
    ...list("created", created),
    ...list("deleted", deleted),
    ...list("updated", updated),
  ];
}
