import {
  type Client,
  type Controller,
  controller,
  isAlreadyExists,
  type ReconcileContext,
  requeueAfter,
  scoped,
} from "setpoint";
import { formatTime } from "setpoint/kinds";
import { Node, Pod } from "setpoint/kinds/v1";
import { isPodOver } from "../pod/pod-state.js";
import { Stage } from "../stage/stage.js";
import { type StagePlace, stageFunctions } from "../stage/stage-functions.js";
import { StagePlayer } from "../stage/stage-player.js";
import { fnv1a } from "../template-hash.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { evictedAtMs } from "./eviction.js";
import { nodeStatus, nodeTaints } from "./node-life.js";
import { isSilent } from "./node-state.js";

const BY_NODE = "node";
const FIRST_NODE = "node-1";

/** Creates a node in a control plane without any, so that pods can be scheduled. */
export async function ensureNode(client: Client): Promise<void> {
  const { items } = await client.list(Node, { limit: 1 });
  if (items.length > 0) return;
  const labels = { "kubernetes.io/hostname": FIRST_NODE, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" };
  try {
    await client.create(Node, { metadata: { name: FIRST_NODE, labels } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/**
 * Keeps every node ready, unless its annotation makes it lost or stages control it. Evicts pods when the node's
 * taints require it.
 */
export function nodeController({ clock, random, hasStages }: WorkloadEnvironment): Controller<Node> {
  const player = new StagePlayer(Node, { clock, random });
  const podsByNode = scoped(Pod, {
    namespaces: "all",
    indexes: { [BY_NODE]: ({ spec }) => (spec.nodeName ? [spec.nodeName] : []) },
  });
  const uses = [Node, podsByNode, ...(hasStages ? [Stage] : [])] as unknown as [
    typeof Node,
    typeof podsByNode,
    typeof Stage,
  ];
  return controller(Node, {
    name: "nodes",
    uses,
    fieldManager: "kubelet",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(node, ctx) {
      const nowMs = clock.now();
      const { name } = node.metadata;
      const stages = hasStages ? player.stagesOf(node, await ctx.list(Stage)) : [];
      const status = stages.length > 0 ? node.status : nodeStatus(node, addressOf(name), nowMs);
      let waitMs = Number.POSITIVE_INFINITY;
      if (stages.length === 0) ctx.status(status!);
      else waitMs = await player.play(node, stages, stageFunctions(nowMs, placeOf(node)), ctx);
      const current = { ...node, ...(status && { status }) };
      const taints = nodeTaints(current, nowMs);
      if (JSON.stringify(taints) !== JSON.stringify(node.spec?.taints ?? [])) {
        await ctx.patch(Node, name, {
          type: "merge",
          body: { spec: { taints: taints.map((taint) => ({ ...taint })) } },
        });
      }
      const tainted = { ...node, spec: { ...node.spec, taints } };
      const hasEffect = taints.some(({ effect }) => effect === "NoExecute");
      const pods = hasEffect || isSilent(current) ? await ctx.byIndex(Pod, { [BY_NODE]: name }) : [];
      for (const pod of pods) {
        if (isPodOver(pod) || pod.metadata.deletionTimestamp) continue;
        if (isSilent(current)) await markUnready(pod, ctx.patch, nowMs);
        const atMs = evictedAtMs(pod, tainted, nowMs);
        if (atMs === undefined) continue;
        if (atMs > nowMs) waitMs = Math.min(waitMs, atMs - nowMs);
        else await evict(pod, ctx, nowMs);
      }
      return Number.isFinite(waitMs) ? requeueAfter(waitMs) : undefined;
    },
  });
}

type Writes = Pick<ReconcileContext<Node, typeof Node | typeof Pod, never>, "patch" | "delete">;

/** No kubelet reports the pods of a silent node, so they count as not ready. */
async function markUnready(pod: Pod, patch: Writes["patch"], nowMs: number): Promise<void> {
  const { conditions = [] } = pod.status ?? {};
  if (!conditions.some(({ type, status }) => type === "Ready" && status === "True")) return;
  const unready = conditions.map((condition) =>
    condition.type === "Ready"
      ? { ...condition, status: "False", lastTransitionTime: formatTime(nowMs) }
      : { ...condition },
  );
  const { name, namespace = "" } = pod.metadata;
  const body = { status: { conditions: unready } };
  await patch(Pod, name, { type: "merge", body }, { namespace, subresource: "status" });
}

async function evict(pod: Pod, ctx: Writes, nowMs: number): Promise<void> {
  const { name, namespace = "", uid } = pod.metadata;
  const target = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: formatTime(nowMs),
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== target.type).map((each) => ({ ...each }));
  const body = { status: { conditions: [...others, target] } };
  await ctx.patch(Pod, name, { type: "merge", body }, { namespace, subresource: "status" });
  await ctx.delete(Pod, name, { namespace, preconditions: { uid } });
}

function placeOf({ metadata: { name } }: Node): StagePlace {
  return { hostIP: addressOf(name), podIP: "", nodeName: name };
}

function addressOf(name: string): string {
  const hash = fnv1a(Buffer.from(name));
  return `10.64.${(hash >>> 8) & 0xff}.${1 + ((hash & 0xff) % 254)}`;
}
