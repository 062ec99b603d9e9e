/** Reads are tracked: a run repeats when an object that it read changes or appears. No watch mapping is needed. */
import { controller, resource, run } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { z } from "zod";

export const Banner = resource("example.com/v1/Banner", {
  spec: z.object({ settings: z.string() }),
  status: z.object({ text: z.string().optional() }),
});

export const banners = controller(Banner, {
  uses: [ConfigMap],
  async reconcile(banner, ctx) {
    const settings = await ctx.find(ConfigMap, banner.spec.settings);
    ctx.status({ text: settings?.data?.text ?? "no settings yet" });
  },
});

if (process.argv[1] === import.meta.filename) await run(banners);
