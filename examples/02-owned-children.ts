/** Applies children as desired, prunes those that are no longer desired, and corrects drift and deletes. */
import { controller, resource, run } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Service } from "setpoint/kinds/v1";
import { z } from "zod";

export const Website = resource("web.example.com/v1/Website", {
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1), port: z.int().optional() }),
  status: z.object({ ready: z.int().optional() }),
});

export const websites = controller(Website, {
  owns: [Deployment, Service],
  async reconcile(site, ctx) {
    const { name } = site.metadata;
    const { image, replicas, port } = site.spec;
    const labels = { app: name };
    const deployment = await ctx.apply(
      Deployment,
      {
        metadata: { name },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
        },
      },
      { yields: ["spec.replicas"] }, // an autoscaler may set them
    );
    if (port !== undefined) {
      await ctx.apply(Service, { metadata: { name }, spec: { selector: labels, ports: [{ port }] } });
    }
    await ctx.prune(Service);
    ctx.status({ ready: deployment.status?.readyReplicas ?? 0 });
  },
});

if (process.argv[1] === import.meta.filename) await run(websites);
