import { describe, expect, it } from "vitest";
import { z } from "zod";
import { requeueAfter, retry } from "../loop/outcome.js";
import { openGraph } from "./graph.js";
import { graphKind } from "./graph-kind.js";
import { Lab, named } from "./lab.testing.js";

const reconcile = () => undefined;

describe("a kind", () => {
  it("has one reconciler for all its resources, which may cache between runs", async () => {
    const cache = new Map<string, number>();
    const Counted = graphKind({
      name: "Counted",
      reconcile: ({ meta }) => void cache.set(meta.name.name, (cache.get(meta.name.name) ?? 0) + 1),
    });
    await using graph = await openGraph({ kinds: [Counted] });
    for (const name of ["a", "b"]) await graph.create({ name: { kind: "Counted", name }, spec: {} });
    await graph.reconcile({ kind: "Counted", name: "a" });
    expect([...cache]).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
  });

  it("retries with its own back-off, parks at the longest interval, and resets after a success", async () => {
    await using lab = await Lab.create({ retry: { initial: "1s", max: "10s", jitter: 0, attempts: 2 } });
    lab.create("a");
    await lab.settle();
    const delays: number[] = [];
    const failed = async () => {
      await lab.call("a").return(retry(new Error("down")));
      delays.push(lab.graph.get(named("a"))!.runAgainOn! - lab.clock.now());
      await lab.clock.advance(delays.at(-1)!);
    };
    for (let attempt = 0; attempt < 5; attempt++) await failed();
    expect(delays).toEqual([1_000, 2_000, 10_000, 10_000, 10_000]);
    expect(lab.call("a").ctx.attempt).toBe(5);
    await lab.call("a").return();
    lab.graph.reconcile(named("a"));
    await lab.settle();
    await failed();
    expect(delays.at(-1)).toBe(1_000);
  });

  it("aborts a run that takes too long, and retries it", async () => {
    await using lab = await Lab.create({ timeout: "10s" });
    lab.create("a");
    await lab.settle();
    await lab.clock.advance(10_000);
    const { ctx, return: end } = lab.call("a");
    expect(ctx.signal.aborted).toBe(true);
    await end({ outputVersion: "too late" });
    const found = lab.graph.get(named("a"));
    expect([found?.error?.message, found?.outputVersion]).toEqual([expect.stringContaining("10000 ms"), undefined]);
    expect(found?.runAgainOn).toBeGreaterThan(lab.clock.now());
  });

  it("checks specs and states with its schemas, by field", async () => {
    const Table = graphKind({
      name: "Table",
      spec: z.object({ rows: z.number().default(3) }),
      state: z.object({ built: z.boolean() }),
      reconcile: (table, ctx) => ctx.updateState({ built: table.spec.rows === 3 }),
    });
    await using graph = await openGraph({ kinds: [Table] });
    const name = { kind: "Table", name: "a" };
    await graph.create({ name, spec: {} });
    expect(graph.get(name)).toMatchObject({ spec: { rows: 3 }, state: { built: true } });
    await expect(graph.updateSpec(name, { rows: "many" })).rejects.toMatchObject({
      code: "GRAPH_SPEC_INVALID",
      message: expect.stringMatching(/rows/),
    });
  });

  it("refuses a schema that checks asynchronously", async () => {
    const spec = { "~standard": { validate: (value: unknown) => Promise.resolve({ value }) } };
    await using graph = await openGraph({ kinds: [graphKind({ name: "Slow", spec, reconcile })] });
    const ticket = graph.create({ name: { kind: "Slow", name: "a" }, spec: {} });
    await expect(ticket).rejects.toMatchObject({ code: "GRAPH_KIND_INVALID" });
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    "refuses a weight of %d, which would never fit",
    async (weight) => {
      const Heavy = graphKind({ name: "Heavy", weight: () => ({ memory: weight }), reconcile });
      await using graph = await openGraph({ kinds: [Heavy], capacity: { memory: 1 } });
      const ticket = graph.create({ name: { kind: "Heavy", name: "a" }, spec: {} });
      await expect(ticket).rejects.toMatchObject({ code: "GRAPH_KIND_INVALID" });
    },
  );

  it("starts a stored resource whose weight is no longer valid", async () => {
    const first = await Lab.create();
    first.create("a");
    await first.finishAll();
    await first[Symbol.asyncDispose]();
    await using second = await Lab.create({ weight: () => ({ memory: Number.NaN }) }, { before: first });
    expect(second.running).toEqual(["a"]);
  });

  it.each([
    ["no capacity", { kinds: [], capacity: { memory: 0 } }],
    ["a capacity that is no number", { kinds: [], capacity: { memory: Number.NaN } }],
    ["a kind twice", { kinds: ["first", "second"].map(() => graphKind({ name: "Same", reconcile })) }],
  ])("openGraph refuses %s", async (_, options) => {
    await expect(openGraph(options)).rejects.toMatchObject({ code: "GRAPH_KIND_INVALID" });
  });

  it("fits fractions of a capacity despite rounding errors", async () => {
    const weight = ({ value = 1 }: { readonly value?: number }) => ({ memory: value / 10 });
    await using lab = await Lab.create({ weight }, { capacity: { memory: 0.3 } });
    for (const name of ["a", "b", "c"]) lab.create(name);
    lab.create("whole", [], { value: 3 });
    await lab.settle();
    expect(lab.running).toEqual(["a", "b", "c"]);
    await lab.finishAll();
    expect(lab.log.at(-1)).toBe("reconcile whole");
  });

  it("fails a run that asks for an invalid time", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    await lab.call("a").return({ runAgainAt: Number.NaN });
    expect(lab.graph.get(named("a"))).toMatchObject({ status: "idle", error: { code: "GRAPH_KIND_INVALID" } });
  });

  it("keeps only the latest requested time of a resource, and runs once at it", async () => {
    await using lab = await Lab.create();
    lab.create("a");
    await lab.settle();
    for (let times = 0; times < 3; times++) {
      await lab.call("a").return(requeueAfter("1m"));
      lab.graph.reconcile(named("a"));
      await lab.settle();
    }
    await lab.call("a").return(requeueAfter("2m"));
    lab.log.length = 0;
    await lab.clock.advance(60_000);
    expect(lab.log).toEqual([]);
    await lab.clock.advance(60_000);
    expect(lab.log).toEqual(["reconcile a"]);
  });

  it("is not affected by later changes of the caller's lists", async () => {
    await using lab = await Lab.create();
    const [refs, paths, tags] = [[named("x")], ["a.sql"], ["daily"]];
    lab.graph.create({ name: named("a"), spec: {}, refs, paths, tags });
    for (const list of [refs, paths, tags]) list.length = 0;
    expect(lab.graph.get(named("a"))?.meta).toMatchObject({ refs: [named("x")], paths: ["a.sql"], tags: ["daily"] });
  });

  it("returns resources that cannot be modified", async () => {
    await using lab = await Lab.create();
    lab.create("a", ["x"], { value: 1 });
    const { meta, spec } = lab.graph.get(named("a"))!;
    for (const frozen of [meta, meta.name, meta.refs, meta.refs[0], spec]) expect(Object.isFrozen(frozen)).toBe(true);
  });

  it("distinguishes refs whatever characters their names contain", async () => {
    await using lab = await Lab.create();
    lab.create("a", ["x Node/y"]);
    await lab.finishAll();
    lab.graph.updateMeta(named("a"), { refs: [named("x"), named("y")] });
    await lab.settle();
    expect(lab.running).toEqual(["a"]);
  });
});
