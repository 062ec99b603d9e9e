import { serveWebhooks } from "setpoint/app";
import { systemClock } from "setpoint/clock";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Namespace, PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { label, settings } from "./client-node.js";
import { Memcached, memcacheds } from "./controller-runtime.js";
import { EphemeralVolume, volumes } from "./kopf.js";
import { hello } from "./pepr.js";

const namespace = "default";
const metadata = { namespace, name: "a" };
const here = { namespace };
const pod = { metadata, spec: { containers: [{ name: "main", image: "nginx" }] } };

describe("migrations from other frameworks", () => {
  it("controller-runtime: children follow their owner and the objects that it reads", async () => {
    await using env = await TestEnvironment.create({ kinds: [Memcached], loops: [memcacheds] });
    await env.client.create(Memcached, { metadata, spec: { size: 2, settings: "texts" } });
    await env.idle();
    await env.client.create(ConfigMap, { metadata: { namespace, name: "texts" }, data: { LEVEL: "debug" } });
    await env.idle();
    const { spec } = await env.client.get(Deployment, "a", here);
    expect(spec?.replicas).toBe(2);
    expect(spec?.template.spec?.containers[0]?.env).toEqual([{ name: "LEVEL", value: "debug" }]);

    await env.client.create(Memcached, {
      metadata: { namespace, name: "default" },
      spec: { size: 1, settings: "texts" },
    });
    await env.idle();
    await env.client.patch(Namespace, namespace, { type: "merge", body: { metadata: { labels: { tier: "web" } } } });
    await env.idle();
    const last = [...env.operator.manager.timeline.runs()].at(-1);
    expect(last?.key).toBe("default/default");
    expect(last?.causes).toContainEqual({
      type: "dependency",
      kind: "v1/Namespace",
      key: "default",
      change: "updated",
    });
  });

  it("kopf: one reconcile for create, update and timer; finalize for delete", async () => {
    const lines: string[] = [];
    let measured = 0;
    const loops = [
      volumes(
        async () => `${++measured}Mi`,
        (line) => void lines.push(line),
      ),
    ];
    await using env = await TestEnvironment.create({ kinds: [EphemeralVolume], loops });
    await env.client.create(EphemeralVolume, { metadata, spec: { size: "1Gi" } });
    await env.advance("150s");
    expect((await env.client.get(EphemeralVolume, "a", here)).status).toEqual({ used: "3Mi" });
    expect((await env.client.get(PersistentVolumeClaim, "a", here)).spec?.resources?.requests).toEqual({
      storage: "1Gi",
    });
    await env.client.create(EphemeralVolume, { metadata: { namespace, name: "b" }, spec: { size: "big" } });
    await env.idle();
    expect((await env.client.get(EphemeralVolume, "b", here)).status?.problem).toContain("big is no size");
    await env.client.patch(EphemeralVolume, "b", { type: "merge", body: { spec: { size: "2Gi" } } }, here);
    await env.idle();
    expect((await env.client.get(EphemeralVolume, "b", here)).status).toEqual({ used: "4Mi" });
    await env.client.delete(EphemeralVolume, "a", here);
    await env.idle();
    expect(lines).toEqual(["a is gone"]);
  });

  it("pepr: pods are labelled, refused and watched", async () => {
    const lines: string[] = [];
    const capability = hello((line) => void lines.push(line));
    await using env = await TestEnvironment.create();
    await using _server = await serveWebhooks({ apps: [capability], client: env.client });
    await env.start(capability.loops);
    await expect(env.client.create(Pod, pod)).rejects.toThrow("pods name their team");
    const made = await env.client.create(Pod, { ...pod, metadata: { ...metadata, labels: { team: "web" } } });
    expect(made.metadata.labels).toEqual({ team: "web", pepr: "was-here" });
    await env.idle();
    expect(lines).toEqual(["a is there"]);
  });

  it("client-node: patches and informers", async () => {
    await using env = await TestEnvironment.create();
    await env.client.create(Pod, pod);
    expect([await label(env.client, "a", "web"), await label(env.client, "b", "web")]).toEqual([true, false]);
    expect((await env.client.get(Pod, "a", here)).metadata.labels).toEqual({ team: "web" });
    const seen: string[] = [];
    const ending = new AbortController();
    const watching = settings(env.client, (name) => void seen.push(name), ending.signal);
    await env.client.create(ConfigMap, { metadata });
    while (!seen.includes("a")) await systemClock.sleep(5);
    ending.abort();
    await watching;
  });
});
