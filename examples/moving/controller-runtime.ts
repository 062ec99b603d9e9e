/** The reconciler of kubebuilder's tutorial in Setpoint: CreateOrUpdate, a mapped watch, RequeueAfter. */
import { controller, mapped, requeueAfter, resource, run } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Namespace } from "setpoint/kinds/v1";
import { z } from "zod";

export const Memcached = resource("cache.example.com/v1/Memcached", {
  spec: z.object({ size: z.int().min(1), settings: z.string() }),
  status: z.object({ ready: z.int().optional() }),
});

export const memcacheds = controller(Memcached, {
  owns: [Deployment], // Owns(&appsv1.Deployment{})
  uses: [ConfigMap], // r.Get(ctx, key, &configMap): a read that found nothing is watched, too
  watches: [mapped(Namespace, ({ metadata }) => [`${metadata.name}/default`])], // Watches(&corev1.Namespace{}, …)
  concurrency: 4, // MaxConcurrentReconciles
  async reconcile(cache, ctx) {
    const settings = await ctx.find(ConfigMap, cache.spec.settings);
    const labels = { app: cache.metadata.name };
    const env = Object.entries(settings?.data ?? {}).map(([name, value]) => ({ name, value }));
    const deployment = await ctx.apply(Deployment, {
      metadata: { name: cache.metadata.name },
      spec: {
        replicas: cache.spec.size,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "memcached", image: "memcached", env }] } },
      },
    });
    ctx.status({ ready: deployment.status?.readyReplicas ?? 0 });
    return requeueAfter("10m"); // ctrl.Result{RequeueAfter: 10 * time.Minute}
  },
});

if (process.argv[1] === import.meta.filename) await run(memcacheds);
