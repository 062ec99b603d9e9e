/** Objects that refer to each other: a migration Job runs before a Deployment, and that before a smoke test. */
import { controller, done, resource, run, terminal, waitFor } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Job } from "setpoint/kinds/batch/v1";
import { z } from "zod";

export const Step = resource("release.example.com/v1/Step", {
  spec: z.object({
    after: z.array(z.string()).optional(),
    image: z.string(),
    /** The replicas of a Deployment; without this field, the step is a Job. */
    replicas: z.int().min(1).optional(),
  }),
  status: z.object({ finished: z.string().optional() }),
});

export const steps = controller(Step, {
  owns: [Deployment, Job],
  refs: (step) => step.spec.after ?? [], // by name; a cycle shows as an error on each of its objects
  async reconcile(step, ctx) {
    ctx.requireRefs(); // waits while an earlier step is missing or has failed
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
      if (!isCurrent || readyReplicas !== replicas) return waitFor("DeploymentReady"); // later steps wait, too
    } else {
      // A Job is immutable: each generation of the step gets a new one.
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
