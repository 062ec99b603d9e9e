import { type Controller, controller, isNotFound, requeueAfter, scoped } from "setpoint";
import { parseTime } from "setpoint/kinds";
import { Job } from "setpoint/kinds/batch/v1";
import { Pod } from "setpoint/kinds/v1";
import { adoption, BY_CONTROLLER, CLAIM_INDEXES, claims, ORPHANS, orphanPlace, release } from "../owner-claims.js";
import { wholeStatus } from "../status-change.js";
import { unlessTerminating } from "../terminating-namespace.js";
import type { PodMakingEnvironment } from "../workloads.js";
import { isFinished, planJob } from "./job-plan.js";
import { isTracked, untracked } from "./job-pods.js";

/** Runs pods until enough of them have succeeded, and deletes finished Jobs after their TTL. */
export function jobController({ clock, podPace }: PodMakingEnvironment): Controller<Job> {
  return controller(Job, {
    name: "jobs",
    uses: [Job, scoped(Pod, { namespaces: "all", indexes: CLAIM_INDEXES, writes: ["create", "patch", "delete"] })],
    writes: ["delete"],
    fieldManager: "kube-controller-manager",
    concurrency: 8,
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(job, ctx) {
      const { namespace = "", name, uid } = job.metadata;
      const nowMs = clock.now();
      if (job.spec?.managedBy && job.spec.managedBy !== "kubernetes.io/job-controller") return;
      if (isFinished(job)) {
        const expiry = expiresAtMs(job);
        if (expiry === undefined) return;
        if (expiry > nowMs) return requeueAfter(expiry - nowMs);
        await ctx.delete(Job, name, { preconditions: { uid }, propagation: "Foreground" });
        return;
      }
      const selector = job.spec?.selector ?? {};
      const candidates = [
        ...(await ctx.byIndex(Pod, { [BY_CONTROLLER]: uid })),
        ...(await ctx.byIndex(Pod, { [ORPHANS]: orphanPlace(namespace, selector) })),
      ];
      const { kept, adopted, released } = claims(job, selector, candidates);
      for (const pod of adopted) await ctx.patch(Pod, pod.metadata.name, adoption(Job, job, pod), { namespace });
      for (const pod of released) await ctx.patch(Pod, pod.metadata.name, release(job, pod), { namespace });
      const plan = planJob(job, [...kept, ...adopted], nowMs);
      for (const pod of plan.untrack) await untrack(pod);
      for (const each of plan.remove) {
        if (each.untrack) await untrack(each.pod);
        await ifThere(ctx.delete(Pod, each.pod.metadata.name, { namespace }));
        ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${each.pod.metadata.name}`);
      }
      let waitMs: number | undefined;
      let count = 0;
      for (const pod of plan.create) {
        ({ waitMs } = podPace.take(namespace, 1));
        if (waitMs !== undefined) break;
        const made = await unlessTerminating(() => ctx.create(Pod, pod));
        if (made === undefined) break;
        count++;
        ctx.event("Normal", "SuccessfulCreate", `Created pod: ${made.metadata.name}`);
      }
      const active = (plan.status.active ?? 0) - (plan.create.length - count);
      const status = wholeStatus(job.status, { ...plan.status, active }, ["ready", "terminating"]);
      const uncounted = { succeeded: null, failed: null, ...plan.status.uncountedTerminatedPods };
      ctx.status({ ...status, uncountedTerminatedPods: uncounted } as never);
      for (const { type, reason, message } of plan.events) ctx.event(type, reason, message);
      const nextMs = waitMs ?? plan.nextMs;
      return nextMs === undefined ? undefined : requeueAfter(nextMs);

      async function untrack(pod: Pod): Promise<void> {
        if (isTracked(pod)) await ifThere(ctx.patch(Pod, pod.metadata.name, untracked(pod), { namespace }));
      }
    },
  });
}

/** When a finished Job expires by its `ttlSecondsAfterFinished`. */
function expiresAtMs({ spec, status }: Job): number | undefined {
  const ended = status?.conditions?.find(({ type, status }) => /^(Complete|Failed)$/.test(type) && status === "True");
  if (spec?.ttlSecondsAfterFinished === undefined || !ended?.lastTransitionTime) return undefined;
  return parseTime(ended.lastTransitionTime) + spec.ttlSecondsAfterFinished * 1_000;
}

async function ifThere(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
