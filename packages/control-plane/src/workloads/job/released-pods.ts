import { type Controller, controller, isNotFound, type ReconcileContext } from "setpoint";
import { Job } from "setpoint/kinds/batch/v1";
import { Pod } from "setpoint/kinds/v1";
import { controllerOf } from "../owner-claims.js";
import { isTracked, untracked } from "./job-pods.js";

type Context = ReconcileContext<Pod, typeof Job | typeof Pod, never>;

/** Removes the tracking finalizer from pods of deleted Jobs, because no Job counts their end any more. */
export function releasedPodController(): Controller<Pod> {
  const release = async (pod: Pod, ctx: Context): Promise<void> => {
    if (!isTracked(pod)) return;
    const owner = controllerOf(pod.metadata);
    const job = owner && (await ctx.find(Job, owner.name));
    if (job && job.metadata.uid === owner.uid && !job.metadata.deletionTimestamp) return;
    try {
      await ctx.patch(Pod, pod.metadata.name, untracked(pod));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  return controller(Pod, {
    name: "released-job-pods",
    uses: [Job, Pod],
    writes: ["patch"],
    labelSelector: "batch.kubernetes.io/job-name",
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    reconcile: (pod, ctx) => release(pod, ctx),
    deleting: (pod, ctx) => release(pod, ctx),
  });
}
