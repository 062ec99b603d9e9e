import { type Client, connect, controller, type Loop } from "setpoint";
import type { Transport } from "setpoint/client";
import { systemClock } from "setpoint/clock";
import { installCrd } from "setpoint/kinds";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { Namespace, Node, Pod } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Kubernetes, startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { Druid } from "../druid.js";
import { druidControllers } from "../druid-operator.js";
import { scriptedDruid } from "../druid-world.testing.js";
import { sevenGroups } from "../sample.testing.js";

/** The number of crash points, spread over the writes of a rollout by a seed. */
const SAMPLE = Number(process.env.DRUID_REAL_CRASHES ?? 4);
const seed = Number(process.env.SETPOINT_SEED ?? 1);
const NODE = "played";

/** Acts as scheduler and kubelet: binds a pod, makes it ready at once, deletes it at once. */
const kubelet: Loop = controller(Pod, {
  name: "kubelet",
  writes: ["patch", "delete"],
  concurrency: 8,
  async reconcile({ metadata, spec, status }, ctx) {
    const { name, uid } = metadata;
    if (!spec?.nodeName) {
      const target = { apiVersion: "v1", kind: "Node", name: NODE };
      const body = { apiVersion: "v1", kind: "Binding", metadata: { name, uid }, target };
      await ctx.createSubresource(Pod, name, { subresource: "binding", body });
    }
    if (status?.phase === "Running") return;
    const types = ["PodScheduled", "Initialized", "ContainersReady", "Ready"];
    const conditions = types.map((type) => ({ type, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }));
    const body = { status: { phase: "Running", podIP: "10.1.2.3", conditions } } as never;
    await ctx.patch(Pod, name, { type: "merge", body }, { subresource: "status" });
  },
  async deleting({ metadata }, ctx) {
    await ctx.delete(Pod, metadata.name, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
  },
});

let cluster: Kubernetes;
let admin: Client;
let played: Manager;
beforeAll(async () => {
  cluster = await startKubernetes({
    controllerManager: true,
    // Nobody renews the lease of the simulated node.
    controllerManagerFlags: ["--controllers=*,-node-lifecycle-controller,-taint-eviction-controller"],
  });
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await installCrd(admin, Druid.crd());
  await admin.create(Node, { metadata: { name: NODE } });
  played = new Manager({ client: admin, grace: "1s" });
  played.add(kubelet);
  await played.start();
});
afterAll(async () => {
  await played?.stop();
  await admin?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const never = new Promise<never>(() => {});

/** An operator of one namespace that dies right after its write number `crashAt`, whose response is lost. */
async function startOperator(namespace: string, crashAt = Number.POSITIVE_INFINITY) {
  let writes = 0;
  let isDead = false;
  let die = (): void => {};
  const wrap = (transport: Transport): Transport => ({
    async request(request) {
      if (isDead) return never;
      const answer = await transport.request(request);
      const isWrite = request.method !== "GET" && !request.path.includes("/events");
      if (isWrite && answer.status < 300 && ++writes >= crashAt) die();
      return isDead ? never : answer;
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  });
  const client = await connect({ kubeconfig: cluster.kubeconfig, wrap });
  const manager = new Manager({ client, grace: "1s" });
  const crashed = new Promise<void>((resolve) => {
    die = () => {
      isDead = true;
      manager.abandon();
      resolve();
    };
  });
  const { call } = scriptedDruid((_method, path) => (path.endsWith("/tasks") ? [] : { wiki: 0 }));
  for (const loop of druidControllers({ call, namespaces: [namespace] })) manager.add(loop);
  await manager.start();
  return {
    crashed,
    hasCrashed: () => isDead,
    writes: () => writes,
    stop: async () => {
      if (!isDead) await manager.stop();
      await client[Symbol.asyncDispose]();
    },
  };
}

async function untilReady(namespace: string, isEnough: () => boolean = () => false): Promise<void> {
  while (!isEnough()) {
    const { status, metadata } = await admin.get(Druid, "tiny", { namespace });
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status === "True" && ready.observedGeneration === metadata.generation) return;
    await systemClock.sleep(100);
  }
}

/** Every pod that ever existed, by uid: the server would forget deleted ones. */
async function recordPods(namespace: string, signal: AbortSignal): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const { items, resourceVersion } = await admin.list(Pod, { namespace });
  for (const { metadata } of items) seen.set(metadata.uid, metadata.name);
  void (async () => {
    for await (const event of admin.watch(Pod, { namespace, resourceVersion, signal })) {
      if (event.type === "ADDED") seen.set(event.object.metadata.uid, event.object.metadata.name);
    }
  })().catch(() => {});
  return seen;
}

async function rollOut(namespace: string, crashAt?: number) {
  await admin.create(Namespace, { metadata: { name: namespace } });
  const druid = sevenGroups({ replicas: 2 });
  await admin.create(Druid, { ...druid, metadata: { name: "tiny", namespace } } as Druid);
  const before = await startOperator(namespace);
  await untilReady(namespace);
  await before.stop();
  using stopping = { signal: new AbortController(), [Symbol.dispose]: () => stopping.signal.abort() };
  const pods = await recordPods(namespace, stopping.signal.signal);
  const operator = await startOperator(namespace, crashAt);
  const body = { spec: { image: "apache/druid:31.0.0", "common.runtime.properties": "druid.zk.service.host=other" } };
  await admin.patch(Druid, "tiny", { type: "merge", body }, { namespace });
  await untilReady(namespace, operator.hasCrashed);
  const hasCrashed = operator.hasCrashed();
  const next = hasCrashed ? await startOperator(namespace) : operator;
  await untilReady(namespace);
  await systemClock.sleep(1_000);
  await next.stop();
  if (hasCrashed) await operator.stop();
  const lives: Record<string, number> = {};
  for (const name of pods.values()) lives[name] = (lives[name] ?? 0) + 1;
  const { items } = await admin.list(StatefulSet, { namespace });
  const state = items.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    // configMapSHA depends on the namespace, too.
    spec: JSON.stringify(spec).replace(/"configMapSHA","value":"[^"]*"/, ""),
    readyReplicas: status?.readyReplicas,
    isOfOneRevision: status?.currentRevision === status?.updateRevision,
  }));
  return { hasCrashed, writes: operator.writes(), lives, state };
}

describe("a rollout of seven groups on a real API server with its controller manager", { timeout: 600_000 }, () => {
  it(`ends the same after a crash at ${SAMPLE} of its writes, and no pod is restarted twice`, async () => {
    const whole = await rollOut("whole");
    expect(whole.lives).toEqual(Object.fromEntries(Object.keys(whole.lives).map((name) => [name, 2])));
    expect(Object.keys(whole.lives)).toHaveLength(14);
    const step = whole.writes / SAMPLE;
    for (let at = 0; at < SAMPLE; at++) {
      const crashAt = 1 + Math.floor(at * step + (seed % Math.max(1, Math.floor(step))));
      const again = await rollOut(`crash-${crashAt}`, crashAt);
      expect(again.lives, `crash after write ${crashAt}`).toEqual(whole.lives);
      expect(again.state, `crash after write ${crashAt}`).toEqual(whole.state);
    }
  });
});
