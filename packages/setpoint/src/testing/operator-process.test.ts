import { describe, expect, it } from "vitest";
import { z } from "zod";
import { controller } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { Lease } from "../kinds/builtin/coordination.k8s.io/v1.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { resource } from "../kinds/resource.js";
import { TestEnvironment } from "./test-environment.js";

const Preview = resource("example.com/v1/Preview", { spec: z.object({ image: z.string() }) });
const here = { namespace: "default" };
const preview = (name: string, namespace = "default") => ({
  metadata: { namespace, name },
  spec: { image: "nginx" },
});

describe("a process that has crashed", () => {
  it("neither receives nor handles watch events any more", async () => {
    const seen: string[] = [];
    const steps = watcher(Preview, { add: ({ metadata }) => void seen.push(metadata.name) });
    const copies = controller(Preview, {
      owns: [ConfigMap],
      reconcile: async ({ metadata }, ctx) => void (await ctx.apply(ConfigMap, { metadata: { name: metadata.name } })),
    });
    await using env = await TestEnvironment.create({ kinds: [Preview], loops: [steps, copies] });
    env.operator.crashAfterWrite(1);
    await env.client.create(Preview, preview("a"));
    await env.idle();
    expect([env.operator.hasCrashed, seen]).toEqual([true, ["a"]]);
    await env.client.create(Preview, preview("b"));
    await env.advance("1h");
    expect(seen).toEqual(["a"]);
  });

  it("runs no other object, no effect and no retry, whatever time passes", async () => {
    const effects: string[] = [];
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const previews = controller(Preview, {
      owns: [ConfigMap],
      concurrency: 2,
      async reconcile({ metadata: { name } }, ctx) {
        if (name === "slow") await released;
        if (name === "failing") throw new Error("again, please");
        await ctx.effect("note", async () => void effects.push(name));
        await ctx.apply(ConfigMap, { metadata: { name } });
      },
    });
    await using env = await TestEnvironment.create({ kinds: [Preview], loops: [previews] });
    const runs = (): number => [...env.operator.manager.timeline.runs()].length;
    env.operator.crashAfterWrite(1);
    await env.client.create(Preview, preview("slow"));
    await env.client.create(Preview, preview("failing"));
    await env.idle();
    await env.client.create(Preview, preview("crashing"));
    await env.client.create(Preview, preview("waiting"));
    await env.idle();
    expect([env.operator.hasCrashed, effects]).toEqual([true, ["crashing"]]);
    const before = runs();
    await env.client.create(Preview, preview("late"));
    release();
    await env.advance("1h");
    expect(effects).toEqual(["crashing"]);
    // Work in progress at the crash is aborted; nothing new was started.
    expect(runs() - before).toBeLessThanOrEqual(2);
  });

  it("no longer renews its lease: another process takes over when it has expired", async () => {
    const seen: string[] = [];
    const noted = (process: string) =>
      controller(Preview, {
        owns: [ConfigMap],
        async reconcile({ metadata: { name } }, ctx) {
          seen.push(`${process} ${name}`);
          await ctx.apply(ConfigMap, { metadata: { name } });
        },
      });
    await using env = await TestEnvironment.create({ kinds: [Preview], manager: { leaderElection: {} } });
    const first = await env.start([noted("first")]);
    first.crashAfterWrite(1);
    await env.client.create(Preview, preview("a"));
    await env.idle();
    expect(first.hasCrashed).toBe(true);
    await env.start([noted("second")]);
    await env.advance("10s");
    expect(seen).toEqual(["first a"]);
    await env.advance("20s");
    expect(seen).toEqual(["first a", "second a"]);
    expect(first.manager.isLeading).toBe(false);
  });
});

describe("the writes of a process", () => {
  it("include kinds, objects and namespaces of any name, but not events, leases and reviews of Kubernetes", async () => {
    const previews = controller(Preview, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name, labels } }, ctx) {
        if (labels?.seen) return;
        await ctx.patch(Preview, name, { type: "merge", body: { metadata: { labels: { seen: "yes" } } } });
        await ctx.apply(ConfigMap, { metadata: { name: "events" } });
        ctx.event("Normal", "Seen", "it was seen");
      },
    });
    await using env = await TestEnvironment.create({
      kinds: [Preview],
      namespaces: ["leases"],
      loops: [previews],
      manager: { leaderElection: {} },
    });
    await env.client.create(Preview, preview("a", "leases"));
    await env.advance("10s");
    expect(env.operator.writes).toEqual([
      "PATCH /apis/example.com/v1/namespaces/leases/previews/a",
      "PATCH /api/v1/namespaces/leases/configmaps/events",
    ]);
    const others = env.operator.requests.filter(({ method }) => method === "POST" || method === "PUT");
    expect(others.map(({ path }) => path.split("/").at(-1)?.split("?")[0])).toEqual(
      expect.arrayContaining(["selfsubjectaccessreviews", "events"]),
    );
    expect((await env.client.find(Lease, "setpoint", here))?.spec?.holderIdentity).toBeDefined();

    env.operator.crashAfterWrite(1);
    await env.client.create(Preview, preview("b"));
    await env.idle();
    expect(env.operator.hasCrashed).toBe(true);
  });
});

describe("a process that is cut off", () => {
  it("does not learn what the server did when the connection broke", async () => {
    await using env = await TestEnvironment.create({ kinds: [Preview] });
    const operator = await env.start([]);
    const { client } = operator;
    let cut: Disposable | undefined;
    using _fault = env.fault(({ method }) => {
      if (method === "POST") cut = operator.cut();
      return undefined;
    });
    await expect(client.create(Preview, preview("a"))).rejects.toMatchObject({ code: "TRANSPORT_BROKEN" });
    expect(await env.client.find(Preview, "a", here)).toBeDefined();
    cut?.[Symbol.dispose]();
    expect(await client.find(Preview, "a", here)).toBeDefined();
  });

  it("stays cut off until the last cut is undone", async () => {
    await using env = await TestEnvironment.create({});
    const operator = await env.start([]);
    const [first, second] = [operator.cut(), operator.cut()];
    const get = () => operator.client.raw({ method: "GET", path: "/version", retry: false });
    first[Symbol.dispose]();
    await expect(get()).rejects.toMatchObject({ code: "TRANSPORT_REFUSED" });
    second[Symbol.dispose]();
    expect((await get()).status).toBe(200);
  });
});

it("a hanging request ends with its signal, also if that was aborted before", async () => {
  await using env = await TestEnvironment.create({});
  const { client } = await env.start([]);
  using _fault = env.fault(() => "hang");
  const gone = new AbortController();
  const asking = client.raw({ method: "GET", path: "/version", signal: gone.signal, headTimeout: 0 });
  const ended = expect(asking).rejects.toThrow("the caller left");
  await env.idle();
  gone.abort(new Error("the caller left"));
  await ended;
  const again = client.raw({ method: "GET", path: "/version", signal: gone.signal, headTimeout: 0 });
  await expect(again).rejects.toThrow("the caller left");
});
