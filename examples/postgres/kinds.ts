/** The kinds that users write: a cluster of servers, and databases in it. */
import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";

const fixed = k8s.rules(k8s.rule("self == oldSelf", "cannot change"));
const version = z.int().min(14).default(17);
const count = z.int().min(1).max(9).default(1);
const storage = z.string().default("1Gi").meta(fixed);
const status = z.object({ ready: z.int().optional() });

/** The first version, without settings and backups: their values are kept while old clients write objects in it. */
export const PostgresClusterV1alpha1 = resource("postgres.example.com/v1alpha1/PostgresCluster", {
  spec: z.object({ version, replicas: count, storage }),
  status,
  conditions: true,
});

/** Has no conversion of its own, so it can be installed without an app. */
export const PostgresClusterV1 = resource("postgres.example.com/v1/PostgresCluster", {
  shortNames: ["pgc"],
  spec: z.object({
    version,
    instances: count,
    storage,
    /** Lines of postgresql.conf. A change restarts the servers one by one. */
    settings: z.record(z.string(), z.string()).default({}),
    /** The schedule of backups in CronJob syntax. Without it there are no backups. */
    backupSchedule: z.string().optional(),
  }),
  status,
  conditions: true,
});

export const PostgresCluster = PostgresClusterV1.withVersion(PostgresClusterV1alpha1, {
  deprecated: "use postgres.example.com/v1",
  up: ({ spec: { replicas, ...rest } }) => ({ spec: { ...rest, instances: replicas, settings: {} } }),
  down: ({ spec: { instances, version, storage } }) => ({ spec: { version, storage, replicas: instances } }),
});

export const PostgresDatabase = resource("postgres.example.com/v1/PostgresDatabase", {
  shortNames: ["pgd"],
  spec: z.object({ cluster: z.string().meta(fixed), owner: z.string() }),
  conditions: true,
});

export type PostgresCluster = ObjectOf<typeof PostgresCluster>;
