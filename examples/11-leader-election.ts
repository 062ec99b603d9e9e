/** Two processes, one lease: one works, the other waits with warm caches and takes over within seconds. */
import { controller, type ManagerOptions, resource, run } from "setpoint";
import { z } from "zod";

export const Job = resource("example.com/v1/Job", {
  spec: z.object({ command: z.string() }),
  status: z.object({ runs: z.int() }),
});

export const jobs = controller(Job, {
  reconcile(job, ctx) {
    ctx.status({ runs: (job.status?.runs ?? 0) + (ctx.action === "created" && !job.status ? 1 : 0) });
  },
});

/** The same in every process. On a stop the lease is released, so that the next process need not wait for its end. */
export const options: Partial<ManagerOptions> = {
  name: "jobs",
  leaderElection: { namespace: "default", leaseMs: 15_000, renewMs: 10_000, retryMs: 2000 },
};

if (process.argv[1] === import.meta.filename) await run(jobs, options);
