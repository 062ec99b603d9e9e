import type { NewCondition } from "setpoint";
import { wantedConfigs } from "../api/dynamic-configs.js";
import type { Druid, DruidStatus } from "../druid.js";
import { type GroupState, type LiveCluster, tableRow } from "./cluster-pass.js";
import { isReady, podTrouble } from "./rollout.js";

type Finding = Omit<NewCondition, "observedGeneration">;

export interface ClusterFindings {
  readonly states: readonly GroupState[];
  readonly live: LiveCluster;
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** Problems outside the groups: missing references, children that the API server rejects, and unreverted drift. */
  readonly faults: readonly { readonly reason: string; readonly message: string }[];
}

/** The conditions of a cluster, most important first. Pure. */
export function conditionsOf(
  druid: Druid,
  { states, live, faults }: Omit<ClusterFindings, "names">,
): readonly Finding[] {
  const busy = states.filter(({ phase }) => phase !== "Ready");
  const refused = states.filter(({ phase }) => phase === "Refused");
  const troubles = live.pods.flatMap((pod) => {
    const trouble = podTrouble(pod);
    return trouble ? [`pod ${pod.metadata.name}: ${trouble}`] : [];
  });
  const rolling = states.filter(({ phase }) => phase === "Rolling" || phase === "Waiting" || phase === "Resizing");
  const all = (found: readonly GroupState[]): string => found.map(said).join(" | ");
  const is = (type: string, status: Finding["status"], reason: string, message = ""): Finding => ({
    type,
    status,
    reason,
    message,
  });
  const degraded =
    refused.length > 0
      ? is("Degraded", "True", "ChangeRefused", all(refused))
      : faults[0]
        ? is("Degraded", "True", faults[0].reason, faults.map(({ message }) => message).join(" | "))
        : troubles.length > 0
          ? is("Degraded", "True", "PodTrouble", troubles.join(" | "))
          : is("Degraded", "False", "AsWanted");
  return [
    busy[0]
      ? is("Ready", "False", busy[0].phase, all(busy))
      : is("Ready", "True", "DruidClusterReady", "All Druid Nodes are in Ready Condition"),
    rolling[0] ? is("Progressing", "True", rolling[0].phase, all(rolling)) : is("Progressing", "False", "Settled"),
    degraded,
    is("SpecValid", "True", "Valid"),
    ...(wantedConfigs(druid).size > 0 ? [] : [is("ConfigSynced", "True", "NothingToSync")]),
  ];
}

function said({ group, phase, message }: GroupState): string {
  return `${group.key}: ${phase}${message ? `, ${message}` : ""}`;
}

/** The status fields of druid-operator, for compatibility, and the table of groups. */
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
