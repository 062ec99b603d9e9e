/** Objects that refer to each other: a migration Job runs before a Deployment, and that before a smoke test. */
import { controller, done, resource, run, terminal, waitFor } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Job } from "setpoint/kinds/batch/v1";
import { z } from "zod";

export const Step = resource("release.example.com/v1/Step", {
  spec: z.object({
    after: z.array(z.string()).optional(),
    image: z.string(),
    /** How many replicas of a Deployment; without it, the step is a Job. */
    replicas: z.int().min(1).optional(),
  }),
  status: z.object({ finished: z.string().optional() }),
});

export const steps = controller(Step, {
  owns: [Deployment, Job],
  refs: (step) => step.spec.after ?? [], // by name; cycles show as an error on each of their objects
  async reconcile(step, ctx) {
    ctx.requireRefs(); // waits where a step before this one is missing or has failed
    const { image, replicas } = step.spec;
    const containers = [{ name: "step", image }];
    if (replicas !== undefined) {
      const labels = { step: step.metadata.name };
      const deployment = await ctx.apply(Deployment, {
        metadata: { name: step.metadata.name },
        spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      });
      const { observedGeneration, updatedReplicas, readyReplicas } = deployment.status ?? {};
      const isCurrent = observedGeneration === deployment.metadata.generation && updatedReplicas === replicas;
      if (!isCurrent || readyReplicas !== replicas) return waitFor("DeploymentReady"); // so do the steps after it
    } else {
      // A Job cannot change: each generation of the step has one of its own.
      const name = `${step.metadata.name}-${step.metadata.generation}`;
      const template = { spec: { containers, restartPolicy: "Never" as const } };
      const job = await ctx.apply(Job, { metadata: { name }, spec: { backoffLimit: 0, template } });
      await ctx.prune(Job);
      if (job.status?.failed) return terminal(new Error(`the Job ${name} has failed`));
      if (!job.status?.succeeded) return waitFor("JobComplete");
    }
    ctx.status({ finished: image });
    return done();
  },
});

if (process.argv[1] === import.meta.filename) await run(steps);
