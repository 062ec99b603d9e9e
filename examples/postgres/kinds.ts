/** What people write: a cluster of servers, and databases in it. */
import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";

const fixed = k8s.rules(k8s.rule("self == oldSelf", "cannot change"));

export const PostgresCluster = resource("postgres.example.com/v1/PostgresCluster", {
  shortNames: ["pgc"],
  spec: z.object({
    version: z.int().min(14).default(17),
    instances: z.int().min(1).max(9).default(1),
    storage: z.string().default("1Gi").meta(fixed),
    /** Lines of postgresql.conf. A change restarts the servers one by one. */
    settings: z.record(z.string(), z.string()).default({}),
    /** When to make a backup, as CronJobs say it. No backups where left out. */
    backupSchedule: z.string().optional(),
  }),
  status: z.object({ ready: z.int().optional() }),
  conditions: true,
});

export const PostgresDatabase = resource("postgres.example.com/v1/PostgresDatabase", {
  shortNames: ["pgd"],
  spec: z.object({ cluster: z.string().meta(fixed), owner: z.string() }),
  conditions: true,
});

export type PostgresCluster = ObjectOf<typeof PostgresCluster>;
