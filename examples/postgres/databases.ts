/** Keeps databases in a cluster's servers, an external system. A finalizer cleans up. */
import { controller, done, findCondition, waitFor } from "setpoint";
import { Secret } from "setpoint/kinds/v1";
import { secretName } from "./children.ts";
import { PostgresCluster, PostgresDatabase } from "./kinds.ts";

/**
 * A connection to the servers, as any driver provides it. Both calls must be idempotent: a run may repeat after a
 * crash.
 */
export interface Servers {
  ensureDatabase(at: Address, name: string, owner: string, signal: AbortSignal): Promise<void>;
  dropDatabase(at: Address, name: string, signal: AbortSignal): Promise<void>;
}

export interface Address {
  readonly host: string;
  readonly password: string;
}

const passwordOf = ({ data }: { readonly data?: Readonly<Record<string, string>> }): string =>
  Buffer.from(data?.POSTGRES_PASSWORD ?? "", "base64").toString();

export const databases = (servers: Servers) =>
  controller(PostgresDatabase, {
    uses: [PostgresCluster, Secret],
    async reconcile({ metadata, spec }, ctx) {
      // The run waits while the cluster or its Secret is missing. A change of either repeats it.
      const cluster = await ctx.get(PostgresCluster, spec.cluster);
      const secret = await ctx.get(Secret, secretName(spec.cluster));
      if (findCondition(cluster.status?.conditions, "Ready")?.status !== "True") {
        return waitFor("ClusterReady", { message: `${spec.cluster} is not ready` });
      }
      const at = { host: `${spec.cluster}.${metadata.namespace}.svc`, password: passwordOf(secret) };
      await ctx.effect("database", (signal) => servers.ensureDatabase(at, metadata.name, spec.owner, signal));
      ctx.condition({ type: "Ready", status: "True", reason: "Created", message: `is in ${spec.cluster}` });
      return done();
    },
    async finalize({ metadata, spec }, ctx) {
      const secret = await ctx.find(Secret, secretName(spec.cluster));
      if (!secret) return; // the cluster is gone, and its databases with it
      const at = { host: `${spec.cluster}.${metadata.namespace}.svc`, password: passwordOf(secret) };
      await ctx.effect("drop", (signal) => servers.dropDatabase(at, metadata.name, signal));
    },
  });
