import type { KubeObject, NewCondition } from "setpoint";
import type { Druid, DruidStatus } from "../druid.js";
import { type GroupState, type LiveCluster, tableRow } from "./cluster-pass.js";
import { isReady, podTrouble } from "./rollout.js";
import { CONFIGURABLE } from "./validation.js";

type Finding = Omit<NewCondition, "observedGeneration">;

export interface ClusterFindings {
  readonly states: readonly GroupState[];
  readonly live: LiveCluster;
  /** The children that the pass has stated. */
  readonly wanted: readonly Pick<KubeObject, "kind">[];
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** What is wrong beside the groups: references that are missing, children that the server refuses, drift that stays. */
  readonly faults: readonly { readonly reason: string; readonly message: string }[];
}

/** The conditions of a cluster, in the order of their weight. Pure. */
export function conditionsOf(
  druid: Druid,
  { states, live, faults }: Omit<ClusterFindings, "names" | "wanted">,
): readonly Finding[] {
  const busy = states.filter(({ phase }) => phase !== "Ready");
  const refused = states.filter(({ phase }) => phase === "Refused");
  const troubles = live.pods.flatMap((pod) => {
    const trouble = podTrouble(pod);
    return trouble ? [`pod ${pod.metadata.name}: ${trouble}`] : [];
  });
  const rolling = states.filter(({ phase }) => phase === "Rolling" || phase === "Waiting" || phase === "Resizing");
  const first = rolling[0];
  const progressing: Finding = first
    ? { type: "Progressing", status: "True", reason: first.phase, message: rolling.map(said).join(" | ") }
    : { type: "Progressing", status: "False", reason: "Settled", message: "" };
  const degraded: Finding =
    refused.length > 0
      ? { type: "Degraded", status: "True", reason: "ChangeRefused", message: refused.map(said).join(" | ") }
      : faults[0]
        ? {
            type: "Degraded",
            status: "True",
            reason: faults[0].reason,
            message: faults.map(({ message }) => message).join(" | "),
          }
        : troubles.length > 0
          ? { type: "Degraded", status: "True", reason: "PodTrouble", message: troubles.join(" | ") }
          : { type: "Degraded", status: "False", reason: "AsWanted", message: "" };
  const ready: Finding =
    busy.length === 0
      ? {
          type: "Ready",
          status: "True",
          reason: "DruidClusterReady",
          message: "All Druid Nodes are in Ready Condition",
        }
      : { type: "Ready", status: "False", reason: busy[0]!.phase, message: busy.map(said).join(" | ") };
  const hasDynamic =
    druid.spec.dynamicConfig ||
    Object.values(druid.spec.nodes).some((node) => node.dynamicConfig && CONFIGURABLE.includes(node.nodeType));
  return [
    ready,
    progressing,
    degraded,
    { type: "SpecValid", status: "True", reason: "Valid", message: "" },
    ...(hasDynamic ? [] : [{ type: "ConfigSynced", status: "True", reason: "NothingToSync", message: "" } as const]),
  ];
}

function said({ group, phase, message }: GroupState): string {
  return `${group.key}: ${phase}${message ? `, ${message}` : ""}`;
}

/** The status that druid-operator writes, for those who read it, and the table of groups. */
export function statusOf(druid: Druid, { states, live, names }: ClusterFindings): DruidStatus {
  const own = (kind: string): readonly string[] => [...(names[kind] ?? [])].sort();
  const { generation = 0 } = druid.metadata;
  return {
    observedGeneration: generation,
    druidNodeStatus: nodeStatus(states, live),
    statefulSets: own("StatefulSet"),
    deployments: own("Deployment"),
    services: own("Service"),
    configMaps: own("ConfigMap"),
    podDisruptionBudgets: own("PodDisruptionBudget"),
    ingress: own("Ingress"),
    hpAutoscalers: own("HorizontalPodAutoscaler"),
    pods: live.pods.map(({ metadata }) => metadata.name).sort(),
    persistentVolumeClaims: live.claims.map(({ metadata }) => metadata.name).sort(),
    nodeGroups: states.map(tableRow),
  } as DruidStatus;
}

function nodeStatus(states: readonly GroupState[], { pods }: LiveCluster): DruidStatus["druidNodeStatus"] {
  const state = (druidNode: string, druidNodeConditionType: string, reason: string) =>
    ({ druidNode, druidNodeConditionStatus: "True", druidNodeConditionType, reason }) as const;
  const rolling = states.find(({ phase, live, change }) => phase !== "Ready" && live && change !== "create");
  const isUnready = (pod: (typeof pods)[number]): boolean =>
    !isReady(pod) && (pod.status?.conditions ?? []).some(({ type }) => type === "Ready");
  const unready = pods.find((pod) => isUnready(pod) && podTrouble(pod)) ?? pods.find(isUnready);
  const isBeingRolled = rolling && (rolling.change === "update" || rolling.phase === "Waiting" || isRevised(rolling));
  if (isBeingRolled) return state(rolling.group.name, "DruidNodeRollingUpdate", rolling.message);
  if (unready) {
    const reason =
      unready.status?.conditions?.find(({ type }) => type === "Ready")?.reason ?? podTrouble(unready) ?? "";
    return state(unready.metadata.name, "DruidNodeErrorState", reason);
  }
  if (states.every(({ phase }) => phase === "Ready")) {
    return state("All", "DruidClusterReady", "All Druid Nodes are in Ready Condition");
  }
  const busy = states.find(({ phase }) => phase !== "Ready")!;
  return state(busy.group.name, "DruidNodeRollingUpdate", busy.message);
}

function isRevised({ live }: GroupState): boolean {
  return live?.kind === "StatefulSet" && live.status?.currentRevision !== live.status?.updateRevision;
}
