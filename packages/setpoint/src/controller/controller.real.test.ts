import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import type { Client } from "../client/client.js";
import { connect } from "../client/connect.js";
import { systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { Informers } from "../informer/informers.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Namespace } from "../kinds/builtin/v1.js";
import type { Desired } from "./context.js";
import { type Controller, controller } from "./controller.js";
import { ControllerRun } from "./controller-run.js";
import { Timeline } from "./timeline.js";
import { Website, websiteDefinition } from "./world.testing.js";

const READS: readonly string[] = ["get", "list", "watch"];

let cluster: Awaited<ReturnType<typeof startKubernetes>>;
let admin: Client;
let writes: string[];
let disposables: AsyncDisposable[];
let timeline: Timeline;

beforeAll(async () => {
  cluster = await startKubernetes();
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await admin.create(Namespace, { metadata: { name: "team" } });
  await admin.create(CustomResourceDefinition, websiteDefinition());
  await eventually(async () => expect((await admin.list(Website)).items).toEqual([]));
}, 900_000);

afterAll(async () => {
  await admin?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

beforeEach(() => {
  writes = [];
  disposables = [];
  timeline = new Timeline();
});

afterEach(async () => {
  for (const disposable of disposables.reverse()) await disposable[Symbol.asyncDispose]();
  const { items } = await admin.list(Website, { namespace: "team" });
  for (const { metadata } of items) await admin.delete(Website, metadata.name, { namespace: "team" });
  await admin.deleteCollection(Deployment, { namespace: "team" });
});

/** Runs a controller with a client and informers of its own, as a process would. */
// biome-ignore lint/suspicious/noExplicitAny: of any kind
async function run(declared: Controller<any>): Promise<ControllerRun> {
  const client = await connect({
    kubeconfig: cluster.kubeconfig,
    observer: ({ verb, kind, subresource }) => {
      if (!READS.includes(verb)) writes.push(`${verb} ${kind}${subresource && ` ${subresource}`}`);
    },
  });
  const informers = new Informers(client);
  const environment = { cluster: { client, informers }, clock: systemClock, random: systemRandom, timeline };
  const started = new ControllerRun(declared, environment);
  disposables.push(client, informers, started);
  await started.start();
  return started;
}

/** Tries until it holds. */
async function eventually(check: () => Promise<void> | void): Promise<void> {
  for (let tries = 100; ; tries--) {
    try {
      return await check();
    } catch (error) {
      if (tries === 0) throw error;
      await systemClock.sleep(100);
    }
  }
}

const settled = (): Promise<void> => systemClock.sleep(700);

function desired(site: Website): Desired<Deployment> {
  const labels = { app: site.metadata.name };
  const container = {
    name: "web",
    image: site.spec.image,
    ports: [{ containerPort: 80 }],
    resources: { limits: { cpu: "1000m", memory: "1024Mi" } },
    env: [{ name: "COLOR", value: "red" }],
  };
  return {
    metadata: { name: site.metadata.name, labels },
    spec: {
      replicas: site.spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container], tolerations: [] } },
    },
  };
}

const websites = () =>
  controller(Website, {
    owns: [Deployment],
    reconcile: async (site, ctx) => {
      const deployment = await ctx.apply(Deployment, desired(site), { yields: ["spec.replicas"] });
      ctx.status({ ready: deployment.status?.readyReplicas ?? 0 });
      ctx.condition({ type: "Available", status: "True", reason: "Applied" });
    },
  });

const create = (): Promise<Website> =>
  admin.create(Website, { metadata: { name: "a", namespace: "team" }, spec: { image: "nginx" } });
const deployment = (): Promise<Deployment | undefined> => admin.find(Deployment, "a", { namespace: "team" });
const patch = (body: object, fieldManager: string): Promise<Deployment> =>
  admin.patch(Deployment, "a", { type: "merge", body: body as never }, { namespace: "team", fieldManager });

describe("a controller on a real kube-apiserver", () => {
  it("makes its child with two writes and one run, then rests, also after a restart", async () => {
    const first = await run(websites());
    await create();
    await eventually(async () => expect((await deployment())?.spec?.replicas).toBe(1));
    await settled();
    expect(writes).toEqual(["apply Deployment", "patch Website status"]);
    expect([...timeline.runs()]).toHaveLength(1);
    await first.stop();
    writes.length = 0;
    await run(websites());
    await eventually(() => expect([...timeline.runs()]).toHaveLength(2));
    await settled();
    expect(writes).toEqual([]);
  });

  it("puts drift right, leaves what others own, and yields what it was told to", async () => {
    await run(websites());
    await create();
    await eventually(async () => expect(await deployment()).toBeDefined());
    const labels = { app: "wrong", theirs: "yes" };
    await patch({ metadata: { labels }, spec: { replicas: 3, paused: true } }, "somebody");
    await eventually(async () => expect((await deployment())?.metadata.labels).toEqual({ app: "a", theirs: "yes" }));
    await settled();
    expect((await deployment())?.spec).toMatchObject({ replicas: 3, paused: true });
  });

  it("removes what is no longer desired, with the rest left as it is", async () => {
    const withData = (data: Record<string, string>) =>
      controller(Website, {
        owns: [ConfigMap],
        reconcile: async (site, ctx) => {
          await ctx.apply(ConfigMap, { metadata: { name: site.metadata.name }, data });
        },
      });
    const first = await run(withData({ kept: "1", dropped: "2" }));
    await create();
    await eventually(async () => expect(await admin.find(ConfigMap, "a", { namespace: "team" })).toBeDefined());
    await first.stop();
    await run(withData({ kept: "1" }));
    await eventually(async () =>
      expect((await admin.find(ConfigMap, "a", { namespace: "team" }))?.data).toEqual({ kept: "1" }),
    );
    await admin.delete(ConfigMap, "a", { namespace: "team" });
  });

  it("holds its finalizer from before the first reconcile until finalize is done", async () => {
    const seen: string[] = [];
    await run(
      controller(Website, {
        reconcile: (site) => void seen.push(`reconcile with ${site.metadata.finalizers}`),
        finalize: () => void seen.push("finalize"),
      }),
    );
    await create();
    await eventually(() => expect(seen).toEqual(["reconcile with setpoint.dev/websites"]));
    await admin.delete(Website, "a", { namespace: "team" });
    await eventually(async () => expect(await admin.find(Website, "a", { namespace: "team" })).toBeUndefined());
    expect(seen).toEqual(["reconcile with setpoint.dev/websites", "finalize"]);
  });

  it("merges its status after a conflict", async () => {
    let isFirst = true;
    await run(
      controller(Website, {
        reconcile: async (_, ctx) => {
          ctx.status({ ready: 1 });
          if (!isFirst) return;
          isFirst = false;
          const body = { status: { phase: "FromElsewhere" } };
          await admin.patch(Website, "a", { type: "merge", body }, { namespace: "team", subresource: "status" });
        },
      }),
    );
    await create();
    await eventually(async () =>
      expect((await admin.get(Website, "a", { namespace: "team" })).status).toEqual({
        ready: 1,
        phase: "FromElsewhere",
      }),
    );
  });
});
