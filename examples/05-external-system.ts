/**
 * A slow external system: an effect starts the work, and the wait shows as a condition. Example 03 shows the cleanup.
 */
import { controller, done, resource, run, waitFor } from "setpoint";
import { z } from "zod";

export const Database = resource("db.example.com/v1/Database", {
  spec: z.object({ size: z.int() }),
  status: z.object({ id: z.string().optional(), url: z.string().optional() }),
  conditions: true,
});

/** The external system. `create` called twice with one token makes one database: a run may be repeated after a crash. */
export interface Provider {
  create(token: string, size: number, signal: AbortSignal): Promise<string>;
  urlOf(id: string, signal: AbortSignal): Promise<string | undefined>;
}

export const databases = (provider: Provider) =>
  controller(Database, {
    async reconcile(database, ctx) {
      const { metadata, spec, status } = database;
      const token = metadata.uid; // unique: an object recreated under this name has another uid
      const create = (signal: AbortSignal) => provider.create(token, spec.size, signal);
      const id = status?.id ?? (await ctx.effect("create", create));
      ctx.status({ id });
      const url = await provider.urlOf(id, ctx.signal);
      if (!url) return waitFor("DatabaseReady", { message: `${id} is being made`, recheck: "10s" });
      if (url !== status?.url) ctx.event("Normal", "Ready", `database ${id} is ready`);
      ctx.status({ url });
      return done();
    },
  });

if (process.argv[1] === import.meta.filename) {
  await run(databases({ create: async (token) => token, urlOf: async (id) => `postgres://${id}.example.com` }));
}
