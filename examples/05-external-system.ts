/** A slow system outside: an effect starts the work, a wait shows as a condition until the work is done. */
import { controller, k8s, resource, run } from "setpoint";
import { z } from "zod";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
});
const conditions = z.array(condition).meta(k8s.listMap("type"));

export const Database = resource("db.example.com/v1/Database", {
  spec: z.object({ size: z.int() }),
  status: z.object({ id: z.string().optional(), url: z.string().optional(), conditions: conditions.optional() }),
});

/** The world outside. `create` with the same token twice makes one database. */
export interface Provider {
  create(token: string, size: number, signal: AbortSignal): Promise<string>;
  urlOf(id: string, signal: AbortSignal): Promise<string | undefined>;
}

export const databases = (provider: Provider) =>
  controller(Database, {
    async reconcile(database, ctx) {
      const { uid = "" } = database.metadata;
      const { size } = database.spec;
      const id = database.status?.id ?? (await ctx.effect("create", (signal) => provider.create(uid, size, signal)));
      ctx.status({ id });
      const url = await provider.urlOf(id, ctx.signal);
      if (!url) return ctx.waitFor("DatabaseReady", { message: `${id} is being made`, recheck: "10s" });
      ctx.status({ url });
      ctx.event("Normal", "Ready", `database ${id} is ready`);
      return ctx.done();
    },
  });

if (process.argv[1] === import.meta.filename) {
  await run(databases({ create: async (token) => token, urlOf: async (id) => `postgres://${id}.example.com` }));
}
