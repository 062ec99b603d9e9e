/** kopf's handlers in Setpoint: create and update are one reconcile, delete is finalize, a timer is requeueAfter. */
import { controller, requeueAfter, resource, run, terminal } from "setpoint";
import { PersistentVolumeClaim } from "setpoint/kinds/v1";
import { z } from "zod";

export const EphemeralVolume = resource("zalando.org/v1/EphemeralVolume", {
  spec: z.object({ size: z.string() }),
  status: z.object({ used: z.string().optional(), problem: z.string().optional() }),
});

export const volumes = (measure: (name: string) => Promise<string>, log: (line: string) => void) =>
  controller(EphemeralVolume, {
    owns: [PersistentVolumeClaim],
    async reconcile({ metadata: { name }, spec: { size } }, ctx) {
      // @kopf.on.create, @kopf.on.update, @kopf.on.resume: the same code for all of them
      if (!/^\d+(Mi|Gi)$/.test(size)) {
        ctx.status({ problem: `spec.size: ${size} is no size` });
        return terminal(new Error("spec.size")); // raise kopf.PermanentError
      }
      await ctx.apply(PersistentVolumeClaim, {
        metadata: { name },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } } },
      });
      ctx.status({ used: await measure(name), problem: null }); // patch.status["used"] = …
      return requeueAfter("60s"); // @kopf.timer(interval=60)
    },
    finalize: ({ metadata }) => log(`${metadata.name} is gone`), // @kopf.on.delete
  });

if (process.argv[1] === import.meta.filename) await run(volumes(async () => "0Mi", console.log));
