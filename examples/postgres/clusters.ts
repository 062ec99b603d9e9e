/** Keeps a cluster's children as its spec says, and shows in its status how many servers are ready. */
import { randomBytes } from "node:crypto";
import { controller } from "setpoint";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { CronJob } from "setpoint/kinds/batch/v1";
import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import { ConfigMap, Secret, Service } from "setpoint/kinds/v1";
import { backup, disruptionBudget, secretName, servers, services, settings } from "./children.ts";
import { PostgresCluster } from "./kinds.ts";

export const clusters = controller(PostgresCluster, {
  owns: [StatefulSet, Service, ConfigMap, Secret, CronJob, PodDisruptionBudget],
  async reconcile(cluster, ctx) {
    const { backupSchedule, instances } = cluster.spec;
    // The password is created once: `create` is never repeated, and the Secret is deleted with the cluster.
    const name = secretName(cluster.metadata.name);
    if (!(await ctx.find(Secret, name))) {
      const password = randomBytes(24).toString("base64url");
      await ctx.create(Secret, {
        metadata: { name },
        stringData: { POSTGRES_USER: "postgres", POSTGRES_PASSWORD: password },
      });
    }
    const { data } = await ctx.apply(ConfigMap, settings(cluster));
    for (const service of services(cluster)) await ctx.apply(Service, service);
    const set = await ctx.apply(StatefulSet, servers(cluster, data?.["postgresql.conf"] ?? ""));
    if (instances > 1) await ctx.apply(PodDisruptionBudget, disruptionBudget(cluster));
    if (backupSchedule) await ctx.apply(CronJob, backup(cluster, backupSchedule));
    await ctx.prune(PodDisruptionBudget, CronJob);

    const ready = set.status?.readyReplicas ?? 0;
    ctx.status({ ready });
    ctx.condition({
      type: "Ready",
      status: ready === instances ? "True" : "False",
      reason: ready === instances ? "ServersReady" : "ServersStarting",
      message: `${ready} of ${instances} servers are ready`,
    });
  },
});
