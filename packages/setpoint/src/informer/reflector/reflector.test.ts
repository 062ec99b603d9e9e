import { describe, expect, it } from "vitest";
import { transportError } from "../../client/transport/transport-error.js";
import { LISTS, PAST_BACKOFF_MS, start, versions } from "../watched-widgets.testing.js";
import { failure, json, listOf, ScriptedStream, statusBody, widget } from "./scripted-api.testing.js";

describe("reflector: lists", () => {
  it('lists at "0", relists at the last version, and on 410 at once at "" [case 42]', async () => {
    const streams = [new ScriptedStream(), new ScriptedStream()];
    const { clock, api, keys } = start((call) => {
      if (call.isWatch) return streams.shift() ?? new ScriptedStream();
      if (call.query.resourceVersion === "0") return listOf(10, [widget("a", 5)]);
      if (call.query.resourceVersion === "10") return failure(410, "Expired");
      return listOf(20, [widget("b", 15)]);
    }, LISTS);
    const [first] = streams;
    await clock.settle();
    first!.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(versions(api.lists)).toEqual(["0", "10", ""]);
    expect(api.lists.map((call) => call.query.limit)).toEqual(["500", undefined, "500"]);
    expect(keys()).toEqual(["b"]);
    expect(versions(api.watches)).toEqual(["10", "20"]);
  });

  it("repeats a list whose page expired without pages, at the first page's version [case 43]", async () => {
    const first = new ScriptedStream();
    const { clock, api, keys } = start(
      ({ isWatch, query }) => {
        if (isWatch) return query.resourceVersion === "10" ? first : new ScriptedStream();
        if (query.resourceVersion === "0") return listOf(10, [widget("a", 1)]);
        if (query.continue === "C1") return failure(410, "Expired");
        if (query.limit) return listOf(11, [widget("a", 1)], "C1");
        return listOf(11, [widget("a", 1), widget("b", 2)]);
      },
      { ...LISTS, pageSize: 4 },
    );
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(versions(api.lists)).toEqual(["0", "10", "", "10"]);
    expect(api.lists.map((call) => call.query.limit)).toEqual(["4", "4", "4", undefined]);
    expect(keys()).toEqual(["a", "b"]);
  });

  it("asks for pages of the configured size", async () => {
    const { clock, api } = start(({ isWatch }) => (isWatch ? new ScriptedStream() : listOf(10, [])), {
      ...LISTS,
      pageSize: 7,
    });
    await clock.settle();
    expect(api.lists.map((call) => call.query.limit)).toEqual(["7"]);
  });

  it("waits for its sync without polling: no timer, no request", async () => {
    const { clock, api, widgets } = start(() => new Promise<never>(() => {}), LISTS);
    await clock.settle();
    const [timers, calls] = [clock.pendingTimers, api.calls.length];
    const waiting = Promise.allSettled(Array.from({ length: 100 }, () => widgets.synced()));
    await clock.settle();
    expect([clock.pendingTimers, api.calls.length]).toEqual([timers, calls]);
    widgets[Symbol.dispose]();
    expect((await waiting).every(({ status }) => status === "rejected")).toBe(true);
  });

  it("treats all pages of a list as one, at the first page's version", async () => {
    const { clock, api, keys } = start(({ isWatch, query }) => {
      if (isWatch) return new ScriptedStream();
      return query.continue ? listOf(10, [widget("b", 3)]) : listOf(10, [widget("a", 2)], "next");
    }, LISTS);
    await clock.settle();
    expect(keys()).toEqual(["a", "b"]);
    expect(api.lists[1]?.query).toEqual({ limit: "500", continue: "next" });
    expect(versions(api.watches)).toEqual(["10"]);
  });

  it('continues to list in pages if the first list at "0" came in pages', async () => {
    const first = new ScriptedStream();
    const { clock, api } = start(({ isWatch, query }) => {
      if (isWatch) return query.resourceVersion === "10" ? first : new ScriptedStream();
      if (query.resourceVersion === "0") return listOf(10, [widget("a", 2)], "next");
      return listOf(query.continue ? 10 : 11, []);
    }, LISTS);
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(api.lists.at(-1)?.query).toEqual({ resourceVersion: "10", limit: "500" });
  });

  it.each([
    ["a cause", failure(504, "Timeout", "slow", { causes: [{ reason: "ResourceVersionTooLarge", message: "x" }] })],
    [
      "a cause's message",
      failure(504, "Timeout", "slow", { causes: [{ reason: "", message: "Too large resource version" }] }),
    ],
    ["its message", failure(504, "Timeout", "Too large resource version: 10, current: 5")],
  ])('"too large resource version", in the form of %s, leads to a list at "" [case 44]', async (_, tooLarge) => {
    const first = new ScriptedStream();
    const { clock, api } = start(({ isWatch, query }) => {
      if (isWatch) return query.resourceVersion === "10" ? first : new ScriptedStream();
      if (query.resourceVersion === "0") return listOf(10, []);
      return query.resourceVersion === "10" ? tooLarge : listOf(5, [widget("a", 4)]);
    }, LISTS);
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(versions(api.lists)).toEqual(["0", "10", ""]);
  });

  it("accepts a server whose history was reset to a lower version", async () => {
    const streams = [new ScriptedStream(), new ScriptedStream()];
    const watches = [...streams];
    const { clock, keys, seen } = start(({ isWatch, query }) => {
      if (isWatch) return watches.shift()!;
      if (query.resourceVersion === "0") return listOf(1000, [widget("a", 990), widget("b", 980)]);
      return query.resourceVersion === "1000"
        ? failure(504, "Timeout", "Too large resource version")
        : listOf(7, [widget("a", 4)]);
    }, LISTS);
    await clock.settle();
    streams[0]!.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    streams[1]!.send("MODIFIED", widget("a", 9));
    await clock.settle();
    expect(keys()).toEqual(["a"]);
    expect(seen.slice(2)).toEqual(["delete? default/b@980", "update default/a@4", "update default/a@9"]);
  });

  it.each([
    ["a table", json({ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "3" }, rows: [] })],
    ["a page of a proxy", { ...json("<html>"), headers: { "content-type": "application/json" } }],
  ])("treats %s as a failure and lists again", async (_, answer) => {
    const { clock, api, widgets } = start(
      ({ isWatch }, count) => (isWatch ? new ScriptedStream() : count === 1 ? answer : listOf(10, [widget("a", 2)])),
      LISTS,
    );
    await clock.settle();
    expect(widgets.status()).toMatchObject({
      phase: "backing-off",
      synced: false,
      lastError: { code: "RESPONSE_INVALID" },
    });
    await clock.advance(PAST_BACKOFF_MS);
    expect(api.lists).toHaveLength(2);
    expect(widgets.status()).toMatchObject({ phase: "watching", synced: true, objects: 1 });
  });

  it("waits from 0.8 to 60 s between failures, longer each time, and reports the error", async () => {
    const started: number[] = [];
    const { clock, widgets } = start(async () => {
      await undefined;
      started.push(clock.monotonic());
      return failure(403, "Forbidden", "cannot list widgets");
    }, LISTS);
    await clock.advance(400_000);
    const waits = started.slice(1).map((at, index) => at - started[index]!);
    const bases = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000];
    for (const [index, base] of bases.entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(base);
      expect(waits[index]).toBeLessThan(2 * base);
    }
    const gaveUp = AbortSignal.abort(new Error("enough"));
    await expect(widgets.synced(gaveUp)).rejects.toThrow(/Widget is not synced \(backing-off\).*cannot list widgets/);
  });
});

describe("reflector: watches", () => {
  it("opens the watch five times after one list if opening gets 429 four times [case 45]", async () => {
    const { clock, api } = start(
      ({ isWatch }) =>
        !isWatch ? listOf(10, []) : api.watches.length < 5 ? failure(429, "TooManyRequests") : new ScriptedStream(),
      LISTS,
    );
    await clock.advance(PAST_BACKOFF_MS);
    expect([api.lists.length, api.watches.length]).toEqual([1, 5]);
  });

  it("backs off and watches again without a list after 429 within the stream [case 45]", async () => {
    const { clock, api, widgets } = start(
      ({ isWatch }) =>
        isWatch ? new ScriptedStream().send("ERROR", statusBody(429, "TooManyRequests")) : listOf(10, []),
      LISTS,
    );
    await clock.settle();
    expect(api.watches).toHaveLength(1);
    expect(widgets.status().phase).toBe("backing-off");
    await clock.advance(PAST_BACKOFF_MS);
    expect(api.watches.length).toBeGreaterThan(2);
    expect(api.lists).toHaveLength(1);
  });

  it("backs off and watches again without a list after a refused connection", async () => {
    const { clock, api } = start(({ isWatch }) => {
      if (!isWatch) return listOf(10, []);
      if (api.watches.length < 3) throw transportError("TRANSPORT_REFUSED", "connection refused");
      return new ScriptedStream();
    }, LISTS);
    await clock.advance(PAST_BACKOFF_MS);
    expect([api.lists.length, versions(api.watches)]).toEqual([1, ["10", "10", "10"]]);
  });

  it.each([
    ["are off", 0, 0, 1],
    ["go on for 30 s", 30_000, 0, 32],
    ["start anew after a quiet minute", 30_000, 10, 41],
  ])(
    "an internal error each second: retries that %s [case 46]",
    async (_, internalErrorRetryMs, quietBefore, watches) => {
      const { clock, api } = start(
        async ({ isWatch }) => {
          if (!isWatch) return listOf(1, []);
          await clock.sleep(api.watches.length === quietBefore ? 61_000 : 1000);
          return new ScriptedStream().send("ERROR", statusBody(500, "InternalError"));
        },
        { ...LISTS, internalErrorRetry: internalErrorRetryMs },
      );
      const watchesOfFirstList = (): number => {
        const second = api.calls.findIndex((call, index) => index > 0 && !call.isWatch);
        return second < 0 ? -1 : second - 1;
      };
      while (watchesOfFirstList() < 0) await clock.advance(1000);
      expect(watchesOfFirstList()).toBe(watches);
    },
  );

  it("advances its version with every event and bookmark [case 47]", async () => {
    const stream = new ScriptedStream();
    const { clock, widgets } = start(({ isWatch }) => (isWatch ? stream : listOf(5, [])), LISTS);
    const steps = [
      () => stream.send("ADDED", widget("a", 10)),
      () => stream.send("MODIFIED", widget("a", 20)),
      () => stream.bookmark(30),
      () => stream.send("DELETED", widget("a", 40)),
    ];
    const followed: string[] = [];
    for (const step of steps) {
      step();
      await clock.settle();
      followed.push(widgets.status().lastResourceVersion);
    }
    expect(followed).toEqual(["10", "20", "30", "40"]);
  });

  it("watches again at once from the last version when the server closes in order", async () => {
    const first = new ScriptedStream();
    const { clock, api } = start(
      ({ isWatch, query }) =>
        !isWatch ? listOf(10, []) : query.resourceVersion === "10" ? first : new ScriptedStream(),
      LISTS,
    );
    await clock.settle();
    first.bookmark(12).close();
    await clock.settle();
    expect([api.lists.length, versions(api.watches)]).toEqual([1, ["10", "12"]]);
    const timeouts = api.watches.map((call) => Number(call.query.timeoutSeconds));
    for (const timeout of timeouts) expect(timeout >= 300 && timeout < 600).toBe(true);
    expect(api.watches[0]?.query.allowWatchBookmarks).toBe("true");
  });

  it("relists after a back-off when a watch ends at once without an event", async () => {
    const { clock, api, widgets } = start(
      ({ isWatch }) => (isWatch ? new ScriptedStream().close() : listOf(10, [])),
      LISTS,
    );
    await clock.settle();
    expect([api.lists.length, api.watches.length]).toEqual([1, 1]);
    expect(widgets.status().phase).toBe("backing-off");
    await clock.advance(1601);
    expect(api.lists).toHaveLength(2);
  });

  it("detects a silent stream by its missing bookmarks, closes it and watches again", async () => {
    const silent = new ScriptedStream();
    const { clock, api, widgets } = start(
      ({ isWatch, query }) =>
        !isWatch ? listOf(10, []) : query.resourceVersion === "30" ? new ScriptedStream() : silent,
      LISTS,
    );
    await clock.settle();
    for (const version of [20, 30]) {
      await clock.advance(60_000);
      silent.bookmark(version);
    }
    await clock.advance(99_000);
    expect(silent.isCancelled).toBe(false);
    await clock.advance(1000 + PAST_BACKOFF_MS);
    expect(silent.isCancelled).toBe(true);
    expect(versions(api.watches)).toEqual(["10", "30"]);
    expect(widgets.status()).toMatchObject({ phase: "watching", lastError: { code: "TRANSPORT_TIMEOUT" } });
    expect(api.lists).toHaveLength(1);
  });

  it.each([
    ["a cut connection", (stream: ScriptedStream) => stream.break()],
    ["a line without its end", (stream: ScriptedStream) => stream.bytes('{"type":"ADDED","object":{"meta').close()],
    [
      "a line cut within a character",
      (stream: ScriptedStream) => stream.bytes('{"type":"ADDED","object":{"metadata":{"name":"\xc3').close(),
    ],
  ])("watches again from the last version after %s", async (_, spoil) => {
    const first = new ScriptedStream();
    const second = new ScriptedStream().send("MODIFIED", widget("a", 30));
    const { clock, api, seen } = start(
      ({ isWatch, query }) => (!isWatch ? listOf(10, []) : query.resourceVersion === "10" ? first : second),
      LISTS,
    );
    await clock.settle();
    first.send("ADDED", widget("a", 20));
    spoil(first);
    await clock.advance(PAST_BACKOFF_MS);
    expect([api.lists.length, versions(api.watches)]).toEqual([1, ["10", "20"]]);
    expect(seen).toEqual(["add default/a@20", "update default/a@30"]);
  });

  it("relists after a line that is no event", async () => {
    const streams = [
      new ScriptedStream().line('{"type":"ADDED","object":{"metadata":{"name":"a"'),
      new ScriptedStream(),
    ];
    const { clock, api, informers, widgets } = start(
      ({ isWatch }) => (isWatch ? streams.shift()! : listOf(10, [])),
      LISTS,
    );
    await clock.advance(PAST_BACKOFF_MS);
    expect([api.lists.length, api.watches.length]).toEqual([2, 2]);
    expect(widgets.status()).toMatchObject({ objects: 0, lastError: { code: "RESPONSE_INVALID" } });
    expect([...informers.tallies()][0]?.errors.unparseable_object).toBe(1);
  });

  it("skips objects of another kind and goes on", async () => {
    const stream = new ScriptedStream();
    const { clock, widgets, keys } = start(({ isWatch }) => (isWatch ? stream : listOf(10, [])), LISTS);
    await clock.settle();
    stream.send("ADDED", { ...widget("x", 11), kind: "Gadget" }, widget("a", 12));
    await clock.settle();
    expect(keys()).toEqual(["a"]);
    expect(widgets.status().lastError?.message).toContain("kind Gadget instead of Widget");
  });

  it("counts the events of its watches and the unusable ones among them, beyond its own end", async () => {
    const stream = new ScriptedStream();
    const { clock, informers, widgets } = start(({ isWatch }) => (isWatch ? stream : listOf(10, [])), LISTS);
    await clock.settle();
    stream.send("ADDED", widget("a", 11), widget("b", 12), { ...widget("x", 13), kind: "Gadget" });
    stream.bookmark(14);
    stream.send("ERROR", statusBody(410, "Expired"));
    await clock.settle();
    widgets[Symbol.dispose]();
    expect([...informers.tallies()]).toEqual([
      {
        kind: "example.com/v1/Widget",
        events: { ADDED: 2, MODIFIED: 0, DELETED: 0, BOOKMARK: 1 },
        errors: { error_event: 1, translation_error: 1, unparseable_object: 0 },
      },
    ]);
  });

  it("does not cut an idle watch, and sends no request while bookmarks arrive", async () => {
    const stream = new ScriptedStream();
    const { clock, api } = start(({ isWatch }) => (isWatch ? stream : listOf(10, [])), LISTS);
    for (let minute = 0; minute < 9; minute++) {
      await clock.advance(60_000);
      stream.bookmark(11 + minute);
    }
    expect(api.calls).toHaveLength(2);
  });

  it("opens nothing after it was stopped, be it while listing or backing off", async () => {
    for (const script of [() => failure(500, "InternalError"), () => new Promise<never>(() => {})]) {
      const { clock, api, informers } = start(script, LISTS);
      await clock.settle();
      await informers[Symbol.asyncDispose]();
      await clock.advance(PAST_BACKOFF_MS);
      expect(api.calls).toHaveLength(1);
      expect(clock.pendingTimers).toBe(0);
    }
  });
});
