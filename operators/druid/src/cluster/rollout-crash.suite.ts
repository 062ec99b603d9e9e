import { type JsonObject, type Kind, watcher } from "setpoint";
import { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import { ConfigMap, Pod, Service } from "setpoint/kinds/v1";
import { type EnvironmentSnapshot, TestEnvironment } from "setpoint/testing";
import { Druid } from "../druid.js";
import { druidControllers } from "../druid-operator.js";
import { scriptedDruid } from "../druid-world.testing.js";
import { sevenGroups } from "../sample.testing.js";

const here = { namespace: "default" };
const CHANGE = {
  image: "apache/druid:31.0.0",
  "common.runtime.properties": "druid.zk.service.host=other",
  nodes: { brokers: { "runtime.properties": "druid.service=druid/broker\ndruid.sql.enable=true" } },
};

/** The result of a rollout. */
export interface RolloutEnd {
  /** The children and the status of the Druid object, without values that differ in each run. */
  readonly state: readonly JsonObject[];
  /** How often each pod was recreated. */
  readonly restarts: Readonly<Record<string, number>>;
  readonly hasCrashed: boolean;
  readonly writes: number;
}

/** A cluster of seven groups, two pods each, at rest. One is a Deployment. */
export async function sevenGroupsAtRest(): Promise<EnvironmentSnapshot> {
  await using env = await TestEnvironment.create({ kinds: [Druid], simulate: true });
  await env.start(loops(env));
  const druid = sevenGroups({ replicas: 2 });
  const { routers } = druid.spec.nodes;
  const nodes = { ...druid.spec.nodes, routers: { ...routers, kind: "Deployment" } };
  await env.client.create(Druid, { ...druid, spec: { ...druid.spec, nodes } } as Druid);
  await env.advance("5m");
  return env.snapshot();
}

/**
 * Changes image, common configuration and one group's configuration, and lets the operator crash after its write number
 * `crashAt`, whose response is lost; then another one starts.
 */
export async function rollOut(from: EnvironmentSnapshot, crashAt: number): Promise<RolloutEnd> {
  await using env = await TestEnvironment.create({ from, simulate: true, seed: crashAt + 1 });
  const before = await pods(env);
  const restarts: Record<string, number> = {};
  const known = new Set(before.map(({ metadata }) => metadata.uid));
  const count = ({ metadata }: Pod): void => {
    if (known.has(metadata.uid)) return;
    known.add(metadata.uid);
    const name = metadata.name.replace(/^(druid-tiny-routers)-.*/, "$1");
    restarts[name] = (restarts[name] ?? 0) + 1;
  };
  await env.start([watcher(Pod, { add: count })]);
  await env.start(loops(env));
  const first = env.operator;
  first.crashAfterWrite(crashAt);
  await env.client.patch(Druid, "tiny", { type: "merge", body: { spec: CHANGE } }, here);
  await untilRolledOut(env, () => first.hasCrashed);
  if (first.hasCrashed) {
    await env.start(loops(env));
    await untilRolledOut(env, () => false);
  }
  return { state: await stateOf(env), restarts, hasCrashed: first.hasCrashed, writes: first.writes.length };
}

/** Waits for the rollout and half a minute more, in which nothing may happen; gives up after an hour. */
async function untilRolledOut(env: TestEnvironment, isEnough: () => boolean): Promise<void> {
  for (let tries = 0; tries < 240 && !isEnough(); tries++) {
    await env.advance("15s");
    const { status, metadata } = await env.client.get(Druid, "tiny", here);
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status !== "True" || ready.observedGeneration !== metadata.generation) continue;
    await env.advance("30s");
    return;
  }
}

function loops({ clock }: TestEnvironment) {
  const { call } = scriptedDruid((_method, path) => (path.endsWith("/tasks") ? [] : { wiki: 0 }));
  return druidControllers({ call, clock });
}

async function pods({ client }: TestEnvironment): Promise<readonly Pod[]> {
  return (await client.list(Pod, here)).items;
}

async function stateOf(env: TestEnvironment): Promise<readonly JsonObject[]> {
  const kinds: readonly Kind[] = [StatefulSet, Deployment, ConfigMap, Service];
  const own = { ...here, labelSelector: "druid_cr=tiny" };
  const children = (await Promise.all(kinds.map(async (kind) => (await env.client.list(kind, own)).items))).flat();
  const { status } = await env.client.get(Druid, "tiny", here);
  const seen = children.map(({ kind, metadata, ...rest }) => {
    const { name, uid, labels, annotations } = metadata;
    return { kind, name, uid, labels, annotations, spec: "spec" in rest ? rest.spec : rest };
  });
  const { pods: _pods, conditions = [], ...shown } = status ?? {};
  const conditionsShown = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  const images = (await pods(env)).map(({ spec }) => spec?.containers[0]?.image ?? "");
  return JSON.parse(JSON.stringify([...seen, shown, conditionsShown.sort(), images]));
}
