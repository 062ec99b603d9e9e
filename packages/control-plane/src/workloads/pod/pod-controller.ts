import { type Controller, controller, type ReconcileContext, requeueAfter } from "setpoint";
import { parseTime } from "setpoint/kinds";
import { Node, Pod } from "setpoint/kinds/v1";
import { isSilent } from "../node/node-state.js";
import { Stage } from "../stage/stage.js";
import { stageFunctions } from "../stage/stage-functions.js";
import { StagePlayer } from "../stage/stage-player.js";
import { fnv1a } from "../template-hash.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { type PodPlace, podStep } from "./pod-life.js";
import { podScript } from "./pod-script.js";

/** Simulates the kubelet of every node: bound pods start, end and terminate as their scripts say. */
export function podController({ clock, random, hasStages }: WorkloadEnvironment): Controller<Pod> {
  const uses = [Node, Pod, ...(hasStages ? [Stage] : [])] as unknown as [typeof Node, typeof Pod, typeof Stage];
  const player = new StagePlayer(Pod, { clock, random });
  /** The stages that match a pod now. While any match, they alone control the pod. */
  const stagesOf = async (
    pod: Pod,
    ctx: Pick<ReconcileContext<Pod, typeof Stage>, "list">,
  ): Promise<readonly Stage[]> => (hasStages ? player.stagesOf(pod, await ctx.list(Stage)) : []);
  const functionsOf = (pod: Pod, node: Node) =>
    stageFunctions(clock.now(), { ...placeOf(pod, node), nodeName: node.metadata.name });
  return controller(Pod, {
    name: "pods",
    uses,
    fieldManager: "kubelet",
    concurrency: 8,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: {
      changed: ["spec", "status", "metadata.annotations", "metadata.deletionTimestamp"],
      matches: ({ spec }) => Boolean(spec.nodeName),
    },
    async reconcile(pod, ctx) {
      const { nodeName } = pod.spec;
      if (!nodeName) return;
      const node = await ctx.find(Node, nodeName);
      if (!node || isSilent(node)) return;
      const stages = await stagesOf(pod, ctx);
      if (stages.length > 0) return requeueAfter(await player.play(pod, stages, functionsOf(pod, node), ctx));
      const nowMs = clock.now();
      const { status, nextMs } = podStep(pod, podScript(pod), placeOf(pod, node), nowMs);
      ctx.status(status);
      if (status.phase === "Running" && pod.status?.phase === "Pending") {
        for (const { name } of pod.spec.containers) ctx.event("Normal", "Started", `Container started: ${name}`);
      }
      for (const { name, state } of status.containerStatuses ?? []) {
        const reason = state?.waiting?.reason;
        const before = pod.status?.containerStatuses?.find((each) => each.name === name)?.state?.waiting?.reason;
        if (reason === before || !reason) continue;
        if (reason === "CrashLoopBackOff")
          ctx.event("Warning", "BackOff", `Back-off restarting failed container ${name}`);
        else if (reason.startsWith("Err")) ctx.event("Warning", "Failed", state?.waiting?.message ?? reason);
      }
      return nextMs === undefined ? undefined : requeueAfter(Math.max(0, nextMs - nowMs));
    },
    /** Lets containers stop within the grace period, then deletes the pod. A silent node stops nothing. */
    async deleting(pod, ctx) {
      const { nodeName = "" } = pod.spec;
      const node = await ctx.find(Node, nodeName);
      if (node && isSilent(node)) return;
      const stages = node ? await stagesOf(pod, ctx) : [];
      if (node && stages.length > 0) return requeueAfter(await player.play(pod, stages, functionsOf(pod, node), ctx));
      const { name, uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
      const graceMs = deletionGracePeriodSeconds * 1_000;
      const deletedMs = parseTime(deletionTimestamp!) - graceMs;
      const waitMs = deletedMs + Math.min(podScript(pod).stopAfterMs, graceMs) - clock.now();
      if (waitMs > 0) return requeueAfter(waitMs);
      if (graceMs > 0) await ctx.delete(Pod, name, { gracePeriodSeconds: 0, preconditions: { uid } });
    },
  });
}

/** Derives stable addresses from the pod's uid, which rarely collide. */
function placeOf(pod: Pod, node: Node): PodPlace {
  const hostIP = node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "10.0.0.1";
  if (pod.spec.hostNetwork) return { hostIP, podIP: hostIP };
  const hash = fnv1a(Buffer.from(pod.metadata.uid));
  const octet = (shift: number): number => (hash >>> shift) & 0xff;
  return { hostIP, podIP: `10.${128 + (octet(0) % 64)}.${octet(8)}.${1 + (octet(16) % 254)}` };
}
