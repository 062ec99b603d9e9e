// clusters.mjs COUNT: an operator creates eight children for each of COUNT clusters in one namespace, and simulated
// workloads become ready, all in this process and in virtual time. Prints the cost from the first create until
// everything is ready as JSON: { seconds, processor, memory }, without the start of the control plane.
import { controlPlane } from "@setpoint/control-plane";
import { controller, kind } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { CronJob } from "setpoint/kinds/batch/v1";
import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import { ConfigMap, Secret, Service, ServiceAccount } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { VirtualClock } from "setpoint/testing";
import { installKind, WEBSITE } from "../website-kind.mjs";

const count = Number(process.argv[2]);
const CHILDREN = 8;
/** Virtual time after which a cluster is certainly ready. */
const SETTLE_MS = 120_000;
const clock = new VirtualClock();
const plane = await controlPlane({ clock, random: seededRandom(1), workloads: true });
const installed = installKind(plane.client, { type: "object", "x-kubernetes-preserve-unknown-fields": true });
await clock.advance(5_000);
await installed;

const Cluster = kind("bench.example.com/v1/Website", { scope: "Namespaced", plural: "websites" });
const labelsOf = (name) => ({ app: "postgres", cluster: name });
const template = (name, containers) => ({ metadata: { labels: labelsOf(name) }, spec: { containers } });
const clusters = controller(Cluster, {
  owns: [StatefulSet, Service, Secret, ConfigMap, ServiceAccount, CronJob, PodDisruptionBudget],
  async reconcile(cluster, ctx) {
    const { name } = cluster.metadata;
    const metadata = (suffix = "") => ({ name: `${name}${suffix}`, labels: labelsOf(name) });
    const selector = { matchLabels: labelsOf(name) };
    const ports = [{ port: 5432 }];
    await ctx.apply(ServiceAccount, { metadata: metadata() });
    await ctx.apply(Secret, { metadata: metadata(), stringData: { password: "not-a-secret" } });
    await ctx.apply(ConfigMap, { metadata: metadata(), data: { "postgresql.conf": "max_connections = 100" } });
    await ctx.apply(Service, { metadata: metadata(), spec: { selector: labelsOf(name), ports } });
    await ctx.apply(Service, { metadata: metadata("-ro"), spec: { selector: labelsOf(name), ports } });
    await ctx.apply(PodDisruptionBudget, { metadata: metadata(), spec: { selector, maxUnavailable: 1 } });
    const backup = [{ name: "backup", image: "postgres:17" }];
    await ctx.apply(CronJob, {
      metadata: metadata(),
      spec: {
        schedule: "0 3 * * *",
        jobTemplate: { spec: { template: { spec: { containers: backup, restartPolicy: "Never" } } } },
      },
    });
    const set = await ctx.apply(StatefulSet, {
      metadata: metadata(),
      spec: {
        serviceName: name,
        replicas: 1,
        selector,
        template: template(name, [{ name: "postgres", image: "postgres:17" }]),
      },
    });
    ctx.status({ ready: set.status?.readyReplicas ?? 0 });
  },
});
const manager = new Manager({ name: "clusters", client: plane.client, clock, random: seededRandom(2) });
manager.add(clusters);
const starting = manager.start();
await clock.advance(5_000);
await starting;

const started = process.cpuUsage();
const startedMs = performance.now();
for (let at = 0; at < count; at++) {
  await plane.client.create(WEBSITE, { metadata: { name: `cluster-${at}`, namespace: "default" }, spec: {} });
}
await clock.advance(SETTLE_MS);
const { user, system } = process.cpuUsage(started);
const seconds = (performance.now() - startedMs) / 1000;

const { items } = await plane.client.list(WEBSITE);
if (items.length !== count || !items.every(({ status }) => status?.ready === 1)) throw new Error("not all are ready");
let children = 0;
for (const owned of clusters.owns)
  children += (await plane.client.list(owned.kind, { labelSelector: "app" })).items.length;
if (children !== count * CHILDREN) throw new Error(`${children} children of ${count} clusters`);
console.log(JSON.stringify({ seconds, processor: (user + system) / 1e6, memory: process.memoryUsage().rss / 2 ** 20 }));
process.exit(0);
