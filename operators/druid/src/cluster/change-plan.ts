import type { Druid } from "../druid.js";
import { groupName } from "../rendering/naming.js";
import { type Child, HASH_ANNOTATION, type NodeGroup, type WorkloadChild } from "../rendering/render.js";
import { differing, missingFrom } from "./difference.js";
import { inOrder, isOlderImage } from "./order.js";
import type { ClusterSettings } from "./settings.js";

export interface GroupPlan {
  readonly group: string;
  /**
   * `roll` replaces the pods. `update` and `scale` do not restart remaining pods. `refuse` and `recreate` mean that an
   * immutable field changed.
   */
  readonly action: "create" | "roll" | "scale" | "update" | "none" | "delete" | "refuse" | "recreate";
  readonly why: readonly string[];
}

export interface ChangePlan {
  readonly cluster: string;
  readonly order: string;
  readonly isDowngrade: boolean;
  /** In update order. */
  readonly groups: readonly GroupPlan[];
  readonly created: readonly string[];
  readonly deleted: readonly string[];
  readonly updated: readonly string[];
}

/** A child as it would be after the change. */
export interface NextChild {
  readonly child: Child;
  /** False if the API server rejected the dry run, so its defaults are unknown. */
  readonly isWhole: boolean;
}

export interface Change {
  readonly druid: Druid;
  readonly groups: readonly NodeGroup[];
  /** The current children: live, or rendered from a file. */
  readonly before: readonly Child[];
  readonly after: readonly NextChild[];
}

const IMMUTABLE = /^spec\.(selector|serviceName|podManagementPolicy|volumeClaimTemplates)/;
const SIZE = /^spec\.volumeClaimTemplates\[\d+\]\.spec\.resources/;
const CONFIG_SHA = /^spec\.template\.spec\.containers\[0\]\.env/;

/** Plans what a change to a Druid object does to its children. Pure. */
export function planChange({ druid, groups, before, after }: Change, settings: ClusterSettings): ChangePlan {
  const { namespace, name: cluster } = druid.metadata;
  const find = (kind: string, name: string) => before.find((each) => each.kind === kind && each.metadata.name === name);
  const paths = new Map(
    after.map(({ child, isWhole }) => {
      const old = find(child.kind, child.metadata.name);
      const compare = isWhole ? differing : missingFrom;
      return [titleOf(child), old && compare(stated(old), stated(child))];
    }),
  );
  const imageOf = (workload: Child | undefined) =>
    (workload as WorkloadChild | undefined)?.spec.template.spec?.containers[0]?.image;
  const isDowngrade = groups.some(({ workload, name }) =>
    isOlderImage(imageOf(workload), imageOf(find(workload.kind, name))),
  );
  const changed = (kind: string, name: string) => paths.get(`${kind} ${name}`) ?? [];
  const common = changed("ConfigMap", `${cluster}-druid-common-config`).map(
    (path) => `common configuration: ${keyOf(path)}`,
  );
  const planned = inOrder(groups, settings.rolloutOrder, isDowngrade).map(({ key, name, workload }): GroupPlan => {
    const found = paths.get(titleOf(workload));
    const isOtherKind = find(workload.kind === "StatefulSet" ? "Deployment" : "StatefulSet", name) !== undefined;
    if (!found)
      return { group: key, ...(isOtherKind ? { action: "recreate", why: ["kind"] } : { action: "create", why: [] }) };
    const config = [
      ...common,
      ...changed("ConfigMap", `${name}-config`).map((path) => `configuration: ${keyOf(path)}`),
    ];
    const why = [...config, ...found.filter((path) => !CONFIG_SHA.test(path) || config.length === 0)];
    return { group: key, ...actionOf(found, why, druid, settings) };
  });
  const names = after.map(({ child }) => titleOf(child));
  const gone = before.filter((child) => !names.includes(titleOf(child)));
  const stem = groupName(cluster, "");
  const left = gone.filter(
    ({ kind, metadata }) =>
      /^(StatefulSet|Deployment)$/.test(kind) && !groups.some(({ name }) => name === metadata.name),
  );
  return {
    cluster: `${namespace}/${cluster}`,
    order: settings.rolloutOrder,
    isDowngrade,
    groups: [
      ...planned,
      ...left.map(({ metadata }) => ({
        group: metadata.name.slice(stem.length),
        action: "delete" as const,
        why: ["it left the spec"],
      })),
    ],
    created: names.filter((title) => paths.get(title) === undefined),
    deleted: gone.map(titleOf),
    updated: names.filter((title) => (paths.get(title)?.length ?? 0) > 0),
  };
}

function actionOf(
  paths: readonly string[],
  why: readonly string[],
  { spec }: Druid,
  { immutableChanges }: ClusterSettings,
): Pick<GroupPlan, "action" | "why"> {
  if (paths.length === 0) return { action: "none", why: [] };
  const immutable = paths.filter((path) => IMMUTABLE.test(path));
  if (immutable.length > 0) {
    const isGrowing = spec.scalePvcSts && immutable.every((path) => SIZE.test(path));
    const action = isGrowing ? "recreate" : immutableChanges;
    const others = why.filter((reason) => !immutable.includes(reason));
    return { action, why: action === "recreate" ? [...immutable, ...others] : immutable };
  }
  if (paths.some((path) => path.startsWith("spec.template"))) return { action: "roll", why };
  return { action: paths.every((path) => path === "spec.replicas") ? "scale" : "update", why };
}

const titleOf = ({ kind, metadata }: Child): string => `${kind} ${metadata.name}`;
const keyOf = (path: string): string => path.replace(/^data\.?/, "");

/** The fields that the Druid object determines. Omits the hash because it also covers the owner's uid. */
function stated({ metadata, spec, data }: Child): unknown {
  const { [HASH_ANNOTATION]: _hash, ...annotations } = metadata.annotations ?? {};
  return { metadata: { labels: metadata.labels, annotations }, spec, data };
}

export function planText(plan: ChangePlan): readonly string[] {
  let step = 0;
  const width = Math.max(0, ...plan.groups.map(({ group }) => group.length));
  const rows = plan.groups.map(({ group, action, why }) => {
    const number = ["roll", "update", "recreate"].includes(action) ? `${++step}.` : "";
    return `  ${number.padEnd(3)} ${group.padEnd(width)}  ${action.padEnd(8)}  ${why.join(", ")}`.trimEnd();
  });
  const lists = (["created", "deleted", "updated"] as const).flatMap((what) =>
    plan[what].length > 0 ? [`  ${what}: ${plan[what].join(", ")}`] : [],
  );
  const direction = plan.isDowngrade ? `${plan.order}, reversed for a downgrade` : plan.order;
  return [`Druid ${plan.cluster} (order: ${direction})`, ...rows, ...lists];
}
