import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import type { HandlerOptions, InformerEvent } from "./informer.js";
import { type InformerRequest, Informers, type InformersOptions } from "./informers.js";
import { listOf, ScriptedApi, ScriptedStream, statusBody, Widget, widget } from "./reflector/scripted-api.testing.js";

const PAST_BACKOFF_MS = 60_001;

/** An informer whose lists and watches come from `streams`, in order: first a streamed list, and so on. */
function start(streams: ScriptedStream[], options: InformersOptions = {}, request: InformerRequest<Widget> = {}) {
  const clock = new VirtualClock();
  const api = new ScriptedApi(() => streams.shift() ?? new ScriptedStream());
  const informers = new Informers(api, { clock, random: seededRandom(7), ...options });
  const widgets = informers.for(Widget, {}, request);
  const listen = (handlerOptions?: HandlerOptions) => {
    const seen: string[] = [];
    const registration = widgets.addHandler((event) => void seen.push(describeEvent(event)), handlerOptions);
    return { seen, registration };
  };
  return { clock, api, informers, widgets, listen };
}

function describeEvent(event: InformerEvent<Widget>): string {
  const version = event.object?.metadata.resourceVersion;
  const name = event.key.replace("default/", "");
  switch (event.type) {
    case "add":
      return `add ${name}@${version}${event.isInInitialList ? " initial" : ""}`;
    case "update": {
      const flags = `${event.isResync ? " resync" : ""}${event.merged ? " merged" : ""}`;
      return `update ${name}@${event.old.metadata.resourceVersion}>${version}${flags}`;
    }
    case "delete":
      return `delete ${name}@${version}${event.finalStateUnknown ? " unknown" : ""}`;
  }
}

describe("informer: steps", () => {
  it("an object missing from a relist is deleted with its last known state [case 22]", async () => {
    const first = new ScriptedStream()
      .send("ADDED", widget("a", 1), widget("b", 2, { spec: { size: 3 } }))
      .bookmark(5, "true");
    const second = new ScriptedStream().send("ADDED", widget("a", 1)).bookmark(9, "true");
    const { clock, widgets, listen } = start([first, second]);
    const last: unknown[] = [];
    widgets.addHandler((event) => void (event.type === "delete" && last.push(event.object?.spec)));
    const { seen } = listen();
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen).toEqual(["add a@1 initial", "add b@2 initial", "delete b@2 unknown"]);
    expect(last).toEqual([{ size: 3 }]);
  });

  it("add, modify and delete reach all of a hundred handlers, and the store matches them [case 23]", async () => {
    const stream = new ScriptedStream().bookmark(1, "true");
    const { clock, widgets, listen } = start([stream]);
    const handlers = Array.from({ length: 100 }, () => listen());
    await clock.settle();
    const states: unknown[] = [];
    for (const step of ["ADDED", "MODIFIED", "DELETED"] as const) {
      stream.send(step, widget("a", { ADDED: 2, MODIFIED: 3, DELETED: 4 }[step]));
      await clock.settle();
      states.push(widgets.get("default/a")?.metadata.resourceVersion);
    }
    for (const { seen } of handlers) expect(seen).toEqual(["add a@2", "update a@2>3", "delete a@4"]);
    expect(states).toEqual(["2", "3", undefined]);
  });

  it("an empty relist deletes an object that was added before; an observed delete is not repeated [case 51]", async () => {
    const first = new ScriptedStream()
      .bookmark(1, "true")
      .send("ADDED", widget("a", 2), widget("b", 3))
      .send("DELETED", widget("b", 4));
    const { clock, listen } = start([first, new ScriptedStream().bookmark(9, "true")]);
    const { seen } = listen();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen).toEqual(["add a@2", "add b@3", "delete b@4", "delete a@2 unknown"]);
  });

  it("a handler is synced when it has handled all objects of the list, and at once for an empty one [case 52]", async () => {
    const { clock, widgets } = start([
      new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true"),
    ]);
    const release: (() => void)[] = [];
    let isSynced = false;
    const handler = widgets.addHandler(() => new Promise<void>((resolve) => release.push(resolve)));
    handler.synced.then(() => (isSynced = true));
    await clock.settle();
    expect([widgets.status().synced, release.length, isSynced]).toEqual([true, 1, false]);
    release[0]!();
    await clock.settle();
    expect([release.length, isSynced]).toEqual([2, false]);
    release[1]!();
    await clock.settle();
    expect(isSynced).toBe(true);

    const empty = start([new ScriptedStream().bookmark(1, "true")]);
    const { registration } = empty.listen();
    await registration.synced;
  });

  it("a resync skips keys whose steps still wait [case 52]", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const { clock, widgets } = start([stream]);
    const seen: string[] = [];
    let release: (() => void) | undefined;
    widgets.addHandler(
      (event) => {
        seen.push(describeEvent(event));
        return event.key === "default/a" && event.type === "add"
          ? new Promise((resolve) => (release = resolve))
          : undefined;
      },
      { resync: 10_000 },
    );
    await clock.advance(12_000);
    expect(seen).toEqual(["add a@1 initial"]);
    release!();
    await clock.settle();
    expect(seen).toEqual(["add a@1 initial", "add b@2 initial", "update a@1>1 resync"]);
  });

  it("a relist replaces the store at once: deletes first, then its objects; handlers see the new store [case 53]", async () => {
    const first = new ScriptedStream()
      .send("ADDED", widget("1", 1), widget("2", 2), widget("3", 3))
      .bookmark(4, "true");
    const second = new ScriptedStream()
      .send("ADDED", widget("1", 11), widget("2", 12), widget("4", 14))
      .bookmark(15, "true");
    const { clock, widgets } = start([first, second]);
    const seen: string[] = [];
    const stores: string[] = [];
    widgets.addHandler((event) => {
      seen.push(describeEvent(event));
      stores.push(
        [...widgets.list()]
          .map((one) => one.metadata.resourceVersion)
          .sort()
          .join(),
      );
    });
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen.slice(3)).toEqual(["delete 3@3 unknown", "update 1@1>11", "update 2@2>12", "add 4@14"]);
    expect(new Set(stores)).toEqual(new Set(["1,2,3", "11,12,14"]));
  });

  it("after a lost watch a handler without resync gets the changes, one with resync everything [case 54]", async () => {
    const first = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const second = new ScriptedStream()
      .send("ADDED", widget("a", 1), widget("b", 5), widget("c", 6))
      .bookmark(7, "true");
    const { clock, listen } = start([first, second]);
    const plain = listen();
    const resyncing = listen({ resync: 3_600_000 });
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(plain.seen.slice(2)).toEqual(["update b@2>5", "add c@6"]);
    expect(resyncing.seen.slice(2)).toEqual(["update a@1>1 resync", "update b@2>5", "add c@6"]);
  });

  it("a handler added while running is synced by a replay and then gets new events [case 55]", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1)).bookmark(2, "true");
    const { clock, widgets, listen, informers } = start([stream]);
    await widgets.synced();
    const late = listen();
    stream.send("MODIFIED", widget("a", 3)).send("ADDED", widget("b", 4));
    await late.registration.synced;
    await clock.settle();
    expect(late.seen).toEqual(["add a@1 initial", "update a@1>3", "add b@4"]);
    late.registration[Symbol.dispose]();
    late.registration[Symbol.dispose]();
    stream.send("DELETED", widget("b", 5));
    await clock.settle();
    expect(late.seen).toHaveLength(3);
    await informers[Symbol.asyncDispose]();
    expect(() => listen()).toThrow("the informer of example.com/v1/Widget is stopped");
  });

  it("a handler that removes itself while it runs gets nothing more, and its sync is rejected", async () => {
    const { clock, widgets } = start([
      new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true"),
    ]);
    const seen: string[] = [];
    const handler = widgets.addHandler((event) => {
      seen.push(event.key);
      handler[Symbol.dispose]();
    });
    await clock.settle();
    expect(seen).toEqual(["default/a"]);
    await expect(handler.synced).rejects.toThrow("removed");
  });

  it("another uid under the same name is a delete and an add, on relist and within the watch", async () => {
    const first = new ScriptedStream().send("ADDED", widget("a", 1, { uid: "u1" })).bookmark(2, "true");
    const second = new ScriptedStream().send("ADDED", widget("a", 5, { uid: "u2" })).bookmark(6, "true");
    const { clock, listen } = start([first, second]);
    const { seen } = listen();
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    second.send("MODIFIED", widget("a", 9, { uid: "u3" }));
    await clock.settle();
    expect(seen).toEqual(["add a@1 initial", "delete a@1 unknown", "add a@5", "delete a@5 unknown", "add a@9"]);
  });

  it("an error of a handler is reported, and the handler goes on", async () => {
    const errors: unknown[] = [];
    const stream = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const { clock, widgets } = start([stream], { onError: (_, error) => errors.push(error) });
    const seen: string[] = [];
    const handler = widgets.addHandler(async (event) => {
      seen.push(event.key);
      if (event.key === "default/a") throw new Error("no");
    });
    await handler.synced;
    await clock.settle();
    expect(seen).toEqual(["default/a", "default/b"]);
    expect([...widgets.keys()]).toEqual(["default/a", "default/b"]);
    expect(errors).toMatchObject([{ code: "INFORMER_HANDLER_FAILED", cause: { message: "no" } }]);
  });

  it("resyncs with jitter, for each handler separately", async () => {
    const { clock, listen } = start([new ScriptedStream().send("ADDED", widget("a", 1)).bookmark(3, "true")], {
      silence: 1e9,
    });
    const often = listen({ resync: 10_000 });
    const never = listen();
    await clock.advance(95_000);
    expect(often.seen.length).toBeGreaterThanOrEqual(1 + 8);
    expect(often.seen.length).toBeLessThanOrEqual(1 + 10);
    expect(new Set(often.seen.slice(1))).toEqual(new Set(["update a@1>1 resync"]));
    expect(never.seen).toEqual(["add a@1 initial"]);
  });
});

describe("informer: slow handlers", () => {
  it("merges steps beyond the limit per key and flags them, blocks nobody, and keeps deletes and re-creations", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const { clock, widgets, listen } = start([stream]);
    const slow: string[] = [];
    let release!: () => void;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    widgets.addHandler(
      (event) => {
        slow.push(describeEvent(event));
        return slow.length === 1 ? blocked : undefined;
      },
      { maxStepsPerKey: 2 },
    );
    const fast = listen();
    await clock.settle();
    for (let version = 10; version < 20; version++) stream.send("MODIFIED", widget("a", version));
    stream.send("DELETED", widget("a", 20)).send("ADDED", widget("a", 21, { uid: "again" }));
    for (let version = 22; version < 30; version++) stream.send("MODIFIED", widget("a", version, { uid: "again" }));
    stream.send("MODIFIED", widget("b", 40));
    await clock.settle();
    expect(fast.seen).toHaveLength(2 + 10 + 2 + 8 + 1);
    expect(widgets.status().backlog).toBeGreaterThan(3);
    release();
    await clock.settle();
    expect(slow).toEqual([
      "add a@1 initial",
      "add b@2 initial",
      "update a@1>10",
      "update a@10>19 merged",
      "delete a@20",
      "add a@21",
      "update a@21>29 merged",
      "update b@2>40",
    ]);
    expect(widgets.status().backlog).toBe(0);
  });

  it("shows every waiting step with its own state, although the store has moved on", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1, { spec: { size: 1 } })).bookmark(2, "true");
    const { clock, widgets } = start([stream]);
    const kept: InformerEvent<Widget>[] = [];
    widgets.addHandler((event) => void kept.push(event));
    await clock.settle();
    for (let version = 3; version < 8; version++)
      stream.send("MODIFIED", widget("a", version, { spec: { size: version } }));
    stream.send("DELETED", widget("a", 8, { spec: { size: 8 } }));
    await clock.settle();
    expect(kept.map((event) => event.object?.spec?.size)).toEqual([1, 3, 4, 5, 6, 7, 8]);
    expect(kept.flatMap((event) => (event.type === "update" ? [event.old.spec?.size] : []))).toEqual([1, 3, 4, 5, 6]);
  });
});

describe("informer: reads", () => {
  const objects = [
    widget("a", 1, { labels: { app: "x" }, spec: { size: 1 } }),
    widget("b", 2, { namespace: "other", labels: { app: "x" }, spec: { size: 2 } }),
  ];
  const byApp = (object: Widget): readonly string[] => [object.metadata.labels?.app ?? ""];

  it("keeps indexes up to date, including those added late", async () => {
    const stream = new ScriptedStream().send("ADDED", ...objects).bookmark(3, "true");
    const { clock, widgets } = start([stream]);
    widgets.addIndex("app", byApp);
    await widgets.synced();
    const names = (index: string, value: string): string[] =>
      [...widgets.byIndex(index, value)].map((one) => one.metadata.name);
    expect(names("app", "x")).toEqual(["a", "b"]);
    stream.send("MODIFIED", widget("a", 4, { labels: { app: "y" } })).send("DELETED", objects[1]);
    await clock.settle();
    widgets.addIndex("app", byApp);
    widgets.addIndex("late", (object) => [`${object.metadata.name}!`, "all"]);
    expect([names("app", "x"), names("app", "y"), names("late", "a!"), names("late", "all")]).toEqual([
      [],
      ["a"],
      ["a"],
      ["a"],
    ]);
    expect(() => widgets.addIndex("app", () => [])).toThrow('the index "app" exists already');
    expect(() => widgets.byIndex("none", "x")).toThrow('there is no index "none"');
  });

  it("lists by namespace", async () => {
    const { widgets } = start([new ScriptedStream().send("ADDED", ...objects).bookmark(3, "true")]);
    await widgets.synced();
    expect([...widgets.keys("other")]).toEqual(["other/b"]);
    expect([...widgets.list({ namespace: "default" })].map((one) => one.metadata.name)).toEqual(["a"]);
    expect([...widgets.list({ namespace: "none" })]).toEqual([]);
  });

  it("returns frozen objects", async () => {
    const { widgets } = start([new ScriptedStream().send("ADDED", ...objects).bookmark(3, "true")]);
    await widgets.synced();
    const spec = widgets.get("default/a")?.spec as { size: number };
    expect(() => (spec.size = 7)).toThrow(TypeError);
    expect(widgets.get("default/a")?.spec).toEqual({ size: 1 });
  });

  it("drops managedFields except those of kept managers, and relists for one that is added late", async () => {
    const entry = (manager: string) => ({
      manager,
      operation: "Apply",
      apiVersion: "v1",
      time: "2026-01-01T00:00:00Z",
      fieldsV1: { "f:spec": {} },
    });
    const managed = (version: number) => {
      const { metadata, ...rest } = widget("a", version);
      return { ...rest, metadata: { ...metadata, managedFields: [entry("kubectl"), entry("me")] } };
    };
    const streams = [1, 1].map((version) => new ScriptedStream().send("ADDED", managed(version)).bookmark(3, "true"));
    const { clock, widgets, informers, api } = start(streams);
    await widgets.synced();
    expect(widgets.get("default/a")?.metadata).not.toHaveProperty("managedFields");
    informers.for(Widget, {}, { keepManager: "me" });
    await clock.settle();
    expect(api.calls).toHaveLength(2);
    const { time: _, ...kept } = entry("me");
    expect(widgets.get("default/a")?.metadata.managedFields).toEqual([kept]);
  });

  it("keeps only chosen fields, or the result of a transform, and always the identity", async () => {
    const object = { ...widget("a", 1, { spec: { size: 1, color: "red" } }), status: { ready: true, note: "x" } };
    const stream = () => new ScriptedStream().send("ADDED", object).bookmark(3, "true");
    const chosen = start(
      [stream()],
      {},
      { projection: { type: "fields", fields: ["spec.size", "status.ready", "none.such"] } },
    );
    await chosen.widgets.synced();
    expect(chosen.widgets.get("default/a")).toEqual({
      ...widget("a", 1, { spec: { size: 1 } }),
      status: { ready: true },
    });
    const transformed = start(
      [stream()],
      {},
      { projection: { type: "transform", transform: () => ({ spec: { all: 1 } }) } },
    );
    await transformed.widgets.synced();
    expect(transformed.widgets.get("default/a")).toEqual({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a", namespace: "default", uid: "uid-of-a", resourceVersion: "1" },
      spec: { all: 1 },
    });
  });

  it("asks for metadata only if nothing else is wanted", async () => {
    const partial = { ...widget("a", 1), apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", spec: undefined };
    const { api, widgets } = start(
      [new ScriptedStream().send("ADDED", partial).bookmark(3, "true")],
      {},
      { projection: { type: "metadata" } },
    );
    await widgets.synced();
    expect(api.calls[0]?.accept).toBe("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    expect(widgets.get("default/a")).toMatchObject({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
    });
  });

  it("accepts objects without a kind, such as items of built-in lists", async () => {
    const { apiVersion: _, kind: __, ...bare } = widget("a", 1);
    const clock = new VirtualClock();
    const api = new ScriptedApi(({ isWatch }) => (isWatch ? new ScriptedStream() : listOf(3, [bare as Widget])));
    const informers = new Informers(api, { clock, random: seededRandom(1), streamsLists: false });
    const widgets = informers.for(Widget);
    await widgets.synced();
    expect(widgets.get("default/a")).toMatchObject({ apiVersion: "example.com/v1", kind: "Widget" });
  });

  it("accepts an object over 3 MB", async () => {
    const large = widget("a", 1, { spec: { text: "é".repeat(1_700_000) } });
    const { widgets } = start([new ScriptedStream().send("ADDED", large).bookmark(3, "true")]);
    await widgets.synced();
    expect(widgets.get("default/a")?.spec).toEqual(large.spec);
    expect(widgets.status().bytes).toBeGreaterThan(3_400_000);
  });

  it("lists 200,000 objects without a stack overflow", async () => {
    const stream = new ScriptedStream();
    const { widgets } = start([stream], { freeze: false });
    for (let batch = 0; batch < 200; batch++) {
      stream.send(
        "ADDED",
        ...Array.from({ length: 1000 }, (_, at) => widget(`w${batch * 1000 + at}`, 1 + batch * 1000 + at)),
      );
    }
    stream.bookmark(300_000, "true");
    await widgets.synced();
    let count = 0;
    for (const _ of widgets.list()) count++;
    expect(count).toBe(200_000);
  });
});

describe("informer: own deletes", () => {
  it("waits until the delete is seen, or another object has the name", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const { clock, widgets } = start([stream]);
    await widgets.synced();
    const waits = [widgets.observeDelete("default/a", "uid-of-a"), widgets.observeDelete("default/b", "uid-of-b")];
    expect(await widgets.observeDelete("default/b", "an earlier one")).toEqual({ expired: false });
    expect(await widgets.observeDelete("default/none", "x")).toEqual({ expired: false });
    stream.send("DELETED", widget("a", 4)).send("MODIFIED", widget("b", 6, { uid: "again" }));
    expect(await Promise.all(waits)).toEqual([{ expired: false }, { expired: false }]);
    expect(clock.pendingTimers).toBeLessThan(3);
  });

  it("gives up after its timeout and reports it, and ends with its signal", async () => {
    const errors: unknown[] = [];
    const stream = new ScriptedStream().send("ADDED", widget("a", 1)).bookmark(3, "true");
    const { clock, widgets } = start([stream], { onError: (_, error) => errors.push(error) });
    await widgets.synced();
    const wait = widgets.observeDelete("default/a", "uid-of-a");
    const abort = new AbortController();
    const aborted = widgets.observeDelete("default/a", "uid-of-a", abort.signal);
    abort.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await clock.advance(5000);
    expect(await wait).toEqual({ expired: true });
    expect(errors).toMatchObject([{ code: "INFORMER_DELETE_NOT_SEEN" }]);
  });

  it("does not show an own write outside of its scope", async () => {
    const clock = new VirtualClock();
    const stream = new ScriptedStream().send("ADDED", widget("a", 1, { labels: { app: "x" } })).bookmark(3, "true");
    const informers = new Informers(new ScriptedApi(() => stream), { clock, random: seededRandom(1) });
    const widgets = informers.for(Widget, { namespaces: ["default"], labelSelector: "app=x" });
    await widgets.synced();
    widgets.observe(widget("b", 5, { labels: { app: "y" } }));
    widgets.observe(widget("c", 6, { labels: { app: "x" }, namespace: "other" }));
    widgets.observe(widget("a", 7, { labels: { app: "y" } }));
    expect([...widgets.keys()]).toEqual([]);
  });
});
