import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { validating } from "../app/admission.js";
import { app } from "../app/app.js";
import type { Client } from "../client/client.js";
import { connect } from "../client/connect.js";
import { systemClock } from "../clock/system-clock.js";
import { controller } from "../controller/controller.js";
import { describePlan } from "../controller/planned-run.js";
import { ValidatingWebhookConfiguration } from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { resource } from "../kinds/resource.js";
import { Manager } from "./manager.js";
import { plan } from "./plan.js";
import { preflight } from "./preflight.js";

const Site = resource("manager.example.com/v1/Site", {
  spec: z.object({ text: z.string() }),
  status: z.object({ ok: z.boolean() }),
});

const sites = controller(Site, {
  owns: [ConfigMap],
  async reconcile({ metadata, spec }, ctx) {
    await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { text: spec.text } });
    ctx.status({ ok: true });
  },
  finalize: () => undefined,
});

const pages = app({
  name: "pages",
  kinds: [Site],
  reconcilers: [sites],
  validate: [
    validating(Site, {
      create({ spec }) {
        if (spec.text === "bad") throw new Error("bad text");
      },
    }),
  ],
});

const here = { namespace: "default" };

describe("a manager on a real kube-apiserver", () => {
  let cluster: Awaited<ReturnType<typeof startKubernetes>>;
  let client: Client;

  beforeAll(async () => {
    cluster = await startKubernetes();
    client = await connect({ kubeconfig: cluster.kubeconfig });
  }, 900_000);

  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  const planned = async (): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const run of plan([sites], { client })) lines.push(...describePlan(run));
    return lines;
  };

  it("says what is not served, installs and runs an app, and takes its webhooks away", async () => {
    expect((await preflight([sites], { client })).map(({ message }) => message)).toEqual([
      "the server does not serve sites of manager.example.com/v1: install its CustomResourceDefinition",
    ]);
    const manager = new Manager({ client, graceMs: 1_000 });
    await manager.add(pages);
    await manager.start();
    const bad = client.create(Site, { metadata: { ...here, name: "b" }, spec: { text: "bad" } });
    await expect(bad).rejects.toThrow("bad text");
    await client.create(Site, { metadata: { ...here, name: "a" }, spec: { text: "hi" } });
    while (!(await client.get(Site, "a", here)).status?.ok) await systemClock.sleep(50);
    expect((await client.get(ConfigMap, "a", here)).data).toEqual({ text: "hi" });
    await manager.stop();
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  }, 60_000);

  it("plans nothing at rest, and what differs by its fields, without touching it", async () => {
    expect(await planned()).toEqual([]);
    await client.patch(ConfigMap, "a", { type: "merge", body: { data: { text: "drift" } } }, here);
    await client.create(Site, { metadata: { ...here, name: "c" }, spec: { text: "new" } });
    expect(await planned()).toEqual([
      "manager.example.com/v1/Site default/a",
      "  apply v1/ConfigMap default/a: data",
      "manager.example.com/v1/Site default/c",
      "  finalizer manager.example.com/v1/Site default/c: metadata.finalizers",
      "  apply v1/ConfigMap default/c: metadata",
      "  status manager.example.com/v1/Site default/c: status.ok",
    ]);
    expect((await client.get(ConfigMap, "a", here)).data).toEqual({ text: "drift" });
    expect(await client.find(ConfigMap, "c", here)).toBeUndefined();
  }, 60_000);
});
