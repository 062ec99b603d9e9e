// simulation.mjs DEPLOYMENTS STATEFUL_SETS: simulates workloads in this process and in virtual time until they are
// ready, and prints the cost as JSON: { seconds, processor, memory }, without the start of the control plane.
import { controlPlane } from "@setpoint/control-plane";
import { seededRandom } from "setpoint/clock";
import { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import { VirtualClock } from "setpoint/testing";

const [deployments, statefulSets] = process.argv.slice(2).map(Number);
const clock = new VirtualClock();
const plane = await controlPlane({ clock, random: seededRandom(1), workloads: true });
await clock.advance(1_000);

const spec = (app) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
});
const started = process.cpuUsage();
const startedMs = performance.now();
const create = async (kind, count, prefix) => {
  for (let at = 0; at < count; at++) {
    const name = `${prefix}-${at}`;
    await plane.client.create(kind, { metadata: { name, namespace: "default" }, spec: spec(name) });
  }
};
await create(Deployment, deployments, "web");
await create(StatefulSet, statefulSets, "db");
await clock.advance(30_000);
for (const kind of [Deployment, StatefulSet]) {
  const { items } = await plane.client.list(kind);
  if (!items.every(({ status }) => status?.availableReplicas === 1))
    throw new Error(`not every ${kind.kind} is available`);
}
const { user, system } = process.cpuUsage(started);
const seconds = (performance.now() - startedMs) / 1000;
console.log(JSON.stringify({ seconds, processor: (user + system) / 1e6, memory: process.memoryUsage().rss / 2 ** 20 }));
process.exit(0);
