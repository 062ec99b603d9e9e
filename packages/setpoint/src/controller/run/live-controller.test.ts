import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { afterInput } from "../../clock/system-clock.js";
import { Deployment } from "../../kinds/builtin/apps/v1.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { done, requeueAfter, retry, terminal, waitFor } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";

const endOfTurn = (): Promise<void> => new Promise((resolve) => afterInput(resolve));

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("a controller", () => {
  it("reconciles a new object once, with its cause [case 1]", async () => {
    const seen: string[] = [];
    await world.run(
      controller(Website, {
        reconcile: (site, ctx) => {
          seen.push(`${site.metadata.name} ${ctx.action} ${ctx.causes.map(({ type }) => type)}`);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect(seen).toEqual(["a created created"]);
    expect(world.runs()).toMatchObject([{ controller: "websites", key: "team/a", outcome: "done", attempt: 0 }]);
  });

  it("runs many keys at once without a MaxListeners warning", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    let [running, most] = [0, 0];
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await world.run(
      controller(Website, {
        concurrency: 40,
        reconcile: async () => {
          most = Math.max(most, ++running);
          await gate;
        },
      }),
    );
    for (let at = 0; at < 40; at++) await world.createWebsite(`s-${at}`);
    await world.clock.settle();
    open();
    await world.clock.settle();
    process.off("warning", onWarning);
    expect(most).toBe(40);
    expect(warnings).toEqual([]);
  });

  it("runs again when an object that it read changes, appears or is deleted", async () => {
    const seen: (string | undefined)[] = [];
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        reconcile: async (_, ctx) => {
          const settings = await ctx.find(ConfigMap, "settings");
          seen.push(settings?.data?.color);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    const settings = { metadata: { name: "settings", namespace: "team" }, data: { color: "red" } };
    const created = await world.client.create(ConfigMap, settings);
    await world.clock.settle();
    await world.client.update(ConfigMap, { ...created, data: { color: "blue" } });
    await world.clock.settle();
    await world.client.create(ConfigMap, { metadata: { name: "other", namespace: "team" } });
    await world.client.delete(ConfigMap, "settings", { namespace: "team" });
    await world.clock.settle();
    expect(seen).toEqual([undefined, "red", "blue", undefined]);
    expect(world.runs().at(-1)?.causes).toEqual([
      { type: "dependency", kind: "v1/ConfigMap", key: "team/settings", change: "deleted" },
    ]);
  });

  it("waits for a missing object that it needs, and shows that in a condition", async () => {
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        reconcile: async (_, ctx) => {
          const settings = await ctx.get(ConfigMap, "settings");
          ctx.status({ phase: settings.data?.color });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect((await world.website("a"))?.status?.conditions).toMatchObject([
      { type: "Reconciled", status: "False", reason: "DependencyAbsent" },
    ]);
    await world.client.create(ConfigMap, { metadata: { name: "settings", namespace: "team" }, data: { color: "red" } });
    await world.clock.settle();
    const { status } = (await world.website("a"))!;
    expect(status?.phase).toBe("red");
    expect(status?.conditions).toMatchObject([{ type: "Reconciled", status: "True", reason: "Succeeded" }]);
  });

  it("rechecks a waiting object that no event wakes", async () => {
    let isThere = false;
    await world.run(
      controller(Website, {
        reconcile: (site) => {
          if (isThere) return done();
          return waitFor("Record", site.metadata.name === "a" ? {} : { recheck: "20s" });
        },
      }),
    );
    await world.createWebsite("a");
    await world.createWebsite("b");
    await world.clock.settle();
    isThere = true;
    await world.clock.advance(19_000);
    expect(world.runs()).toHaveLength(2);
    await world.clock.advance(2_000);
    const recheck = { causes: [{ type: "recheck", reason: "Record" }], outcome: "done" };
    expect(world.runs().slice(2)).toMatchObject([{ key: "team/b", ...recheck }]);
    await world.clock.advance(300_000);
    expect(world.runs().slice(3)).toMatchObject([{ key: "team/a", ...recheck }]);
  });

  it("tells a run which fields changed since the last one", async () => {
    const changes: (readonly string[])[] = [];
    await world.run(controller(Website, { reconcile: (_, ctx) => void changes.push(ctx.changedPaths()) }));
    const site = await world.createWebsite("a", { image: "one" });
    await world.clock.settle();
    await world.client.update(Website, { ...site, spec: { image: "two", replicas: 2 } });
    await world.clock.settle();
    expect(changes[0]).toEqual([]);
    expect(changes[1]).toEqual(expect.arrayContaining(["spec.image", "spec.replicas", "metadata.generation"]));
  });

  it("runs again after requeueAfter, without counting an attempt [case 3]", async () => {
    const attempts: number[] = [];
    await world.run(
      controller(Website, {
        reconcile: (_, ctx) => {
          attempts.push(ctx.attempt);
          return attempts.length === 1 ? requeueAfter("10s") : done();
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(9_000);
    expect(attempts).toEqual([0]);
    await world.clock.advance(60_000);
    expect(attempts).toEqual([0, 0]);
    expect(world.runs().at(-1)?.causes).toEqual([{ type: "requeue" }]);
  });

  it("lets timers fire while a key requeues itself at once", async () => {
    let [runs, heardAfter] = [0, 0];
    await world.run(
      controller(Website, {
        reconcile: () => {
          if (runs++ === 0) world.clock.timer(0, () => (heardAfter = runs));
          return runs > 1_000 ? done() : requeueAfter(0);
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect([runs, heardAfter]).toEqual([1_001, 1]);
  });

  it("yields to the event loop while many keys run without awaiting", async () => {
    const keys = 200;
    let [timeMs, runs, turnedAfter] = [0, 0, keys];
    const { clock } = world;
    for (let at = 0; at < keys; at++) await world.createWebsite(`site-${at}`);
    await world.run(
      controller(Website, {
        reconcile: () => {
          if (runs++ === 0) void endOfTurn().then(() => (turnedAfter = runs));
        },
      }),
      {
        // Time advances with each read.
        clock: {
          now: () => clock.now(),
          monotonic: () => timeMs++,
          timer: (delayMs, callback) => clock.timer(delayMs, callback),
          sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
        },
      },
    );
    while (runs < keys) await endOfTurn();
    expect(turnedAfter).toBeLessThan(keys / 2);
  });

  it("resets the number of attempts after requeueAfter [case 3]", async () => {
    const attempts: number[] = [];
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        reconcile: (_, ctx) => {
          attempts.push(ctx.attempt);
          if (attempts.length % 2 === 1) throw new Error("every other time");
          return attempts.length < 4 ? requeueAfter("10s") : done();
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(60_000);
    expect(attempts).toEqual([0, 1, 0, 1]);
  });

  it("parks a key at the longest interval when its retries are used up, and reports it [case 9]", async () => {
    const errors: string[] = [];
    let calls = 0;
    const run = await world.run(
      controller(Website, {
        retry: { initial: "1s", max: "60s", attempts: 3, jitter: 0 },
        onError: (error, { attempt, parked }) => errors.push(`${(error as Error).message} ${attempt} ${parked}`),
        reconcile: () => {
          calls++;
          throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(10_000);
    expect(calls).toBe(4);
    expect(run.status().parked).toEqual(["team/a"]);
    expect(errors).toEqual(["no 0 false", "no 1 false", "no 2 false", "no 3 true"]);
    expect(world.events).toMatchObject([
      { reason: "ReconcileFailed" },
      { type: "Warning", reason: "RetriesExhausted" },
    ]);
    expect((await world.website("a"))?.status?.conditions).toMatchObject([{ reason: "RetriesExhausted" }]);
    await world.clock.advance(120_000);
    expect(calls).toBe(6);
  });

  it("unparks a key when its spec changes", async () => {
    const run = await world.run(
      controller(Website, {
        retry: { initial: "1s", max: "60s", attempts: 1, jitter: 0 },
        reconcile: () => {
          throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(10_000);
    expect(run.status().parked).toEqual(["team/a"]);
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { image: "other" } });
    await world.clock.settle();
    expect(run.status().parked).toEqual([]);
    await world.clock.advance(10_000);
    expect(run.status().parked).toEqual(["team/a"]);
  });

  it("retries after the delay that a run asks for instead of the back-off, and counts the attempt", async () => {
    const tries: string[] = [];
    await world.run(
      controller(Website, {
        retry: { initial: "60s", jitter: 0, attempts: 3 },
        reconcile: (_, ctx) => {
          tries.push(`${ctx.attempt} at ${world.clock.monotonic() - startMs}`);
          return ctx.attempt < 3 ? retry(new Error("no"), { after: "1s" }) : done();
        },
      }),
    );
    const startMs = world.clock.monotonic();
    await world.createWebsite("a");
    await world.clock.advance(10_000);
    expect(tries).toEqual(["0 at 0", "1 at 1000", "2 at 2000", "3 at 3000"]);
  });

  it("stops retrying after a success, and keeps the state between attempts [case 8]", async () => {
    const seen: unknown[] = [];
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        reconcile: (_, ctx) => {
          seen.push(ctx.state.tries);
          ctx.state.tries = ((ctx.state.tries as number | undefined) ?? 0) + 1;
          if (seen.length < 4) throw new Error("not yet");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(600_000);
    expect(seen).toEqual([undefined, 1, 2, 3]);
  });

  it("replaces a pending retry by an update, and reads the object again [case 7]", async () => {
    const images: string[] = [];
    await world.run(
      controller(Website, {
        retry: { initial: "30s", jitter: 0 },
        reconcile: (site) => {
          images.push(site.spec.image);
          if (site.spec.image === "bad") throw new Error("bad image");
        },
      }),
    );
    const site = await world.createWebsite("a", { image: "bad" });
    await world.clock.settle();
    await world.client.update(Website, { ...site, spec: { image: "good" } });
    await world.clock.advance(600_000);
    expect(images).toEqual(["bad", "good"]);
  });

  it("does not retry a terminal error until something changes", async () => {
    let calls = 0;
    await world.run(
      controller(Website, {
        reconcile: () => {
          calls++;
          return terminal(new Error("the image does not exist"));
        },
      }),
    );
    const site = await world.createWebsite("a");
    await world.clock.advance(3_600_000);
    expect(calls).toBe(1);
    expect((await world.website("a"))?.status?.conditions).toMatchObject([{ reason: "TerminalError" }]);
    await world.client.update(Website, { ...(await world.website("a"))!, spec: { ...site.spec, image: "b" } });
    await world.clock.settle();
    expect(calls).toBe(2);
  });

  it("never runs one object twice at once, but runs others meanwhile [case 20]", async () => {
    let active = 0;
    let most = 0;
    const activeKeys = new Set<string>();
    await world.run(
      controller(Website, {
        concurrency: 3,
        reconcile: async (site) => {
          expect(activeKeys.has(site.metadata.name)).toBe(false);
          activeKeys.add(site.metadata.name);
          most = Math.max(most, ++active);
          await world.clock.sleep(100);
          active--;
          activeKeys.delete(site.metadata.name);
        },
      }),
    );
    for (let at = 0; at < 9; at++) await world.createWebsite(`site-${at}`);
    await world.clock.advance(50);
    await world.annotate("site-0", { touched: "yes" });
    await world.clock.advance(400);
    expect([most, world.runs().length]).toEqual([3, 10]);
  });

  it("does not let many failing keys delay a healthy one", async () => {
    const healthy: number[] = [];
    await world.run(
      controller(Website, {
        retry: { initial: "1s", max: "1s", jitter: 0 },
        concurrency: 1,
        reconcile: async (site) => {
          if (site.metadata.name === "healthy") healthy.push(world.clock.monotonic());
          else {
            await world.clock.sleep(10);
            throw new Error("no");
          }
        },
      }),
    );
    for (let at = 0; at < 100; at++) await world.createWebsite(`failing-${at}`);
    await world.clock.advance(3_000);
    const createdMs = world.clock.monotonic();
    await world.createWebsite("healthy");
    await world.clock.advance(500);
    expect(healthy).toHaveLength(1);
    expect(healthy[0]! - createdMs).toBeLessThanOrEqual(20);
  });

  it("rejects calls of a run after its end", async () => {
    const late: unknown[] = [];
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        reconcile: (_, ctx) => {
          void world.clock
            .sleep(1_000)
            .then(() => ctx.create(ConfigMap, { metadata: { name: "late" } }))
            .catch((error: unknown) => late.push(error));
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(2_000);
    expect(late).toMatchObject([{ code: "RUN_OVER" }]);
    expect(world.writes).toEqual([]);
  });

  it("loses no key if an error handler throws", async () => {
    let calls = 0;
    const run = await world.run(
      controller(Website, {
        concurrency: 1,
        retry: { initial: "1s", jitter: 0 },
        onError: () => {
          throw new Error("the handler's own");
        },
        reconcile: () => {
          if (calls++ === 0) throw new Error("no");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(10_000);
    expect(calls).toBe(2);
    expect(run.status().running).toEqual([]);
  });

  it("runs a recreated object once, as created", async () => {
    const seen: string[] = [];
    await world.run(
      controller(Website, {
        owns: [{ kind: ConfigMap, namespaces: "all" }],
        reconcile: async (site, ctx) => {
          seen.push(`${site.spec.image} ${ctx.action}`);
          await ctx.apply(ConfigMap, { metadata: { name: site.spec.image, namespace: "other" }, data: { x: "1" } });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    // The children of the first object are still to be deleted when the second exists.
    await world.client.delete(Website, "a", { namespace: "team" });
    await world.createWebsite("a", { image: "caddy" });
    await world.clock.settle();
    expect(seen).toEqual(["nginx created", "caddy created"]);
  });

  it("stops within its grace period if the server does not answer during the start", async () => {
    const owner = "web.example.com/v1/Website team/gone uid";
    const labels = { app: "orphan" };
    await world.client.create(Deployment, {
      metadata: { name: "orphan", namespace: "other", annotations: { "setpoint.dev/owner": owner } },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "a", image: "a" }] } },
      },
    });
    world.hangs = ({ path }) => path.includes("/websites/gone");
    const run = await world.run(controller(Website, { owns: [Deployment], reconcile: () => {} }));
    await world.clock.advance(1_000);
    let isStopped = false;
    void run.stop(5_000).then(() => {
      isStopped = true;
    });
    await world.clock.advance(4_000);
    expect(isStopped).toBe(false);
    await world.clock.advance(2_000);
    expect(isStopped).toBe(true);
  });

  it("waits for the retryAfterMs of an error", async () => {
    let calls = 0;
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        reconcile: () => {
          calls++;
          if (calls === 1) throw Object.assign(new Error("busy"), { retryAfterMs: 30_000 });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(29_000);
    expect(calls).toBe(1);
    await world.clock.advance(2_000);
    expect(calls).toBe(2);
  });
});
