import { describe, expect, it } from "vitest";
import { LISTS, PAST_BACKOFF_MS, start, versions } from "../watched-widgets.testing.js";
import { failure, listOf, ScriptedStream, statusBody, Widget, widget } from "./scripted-api.testing.js";

describe("reflector: streamed lists", () => {
  const isListing = (call: { readonly query: Readonly<Record<string, string>> }): boolean =>
    call.query.sendInitialEvents === "true";

  it("shows nothing before the end bookmark, then the result of all streamed events [case 48]", async () => {
    const stream = new ScriptedStream();
    const { clock, api, widgets, keys, handler } = start(() => stream);
    stream.send("ADDED", widget("a", 1), widget("b", 2), widget("c", 3));
    stream.send("MODIFIED", widget("b", 4, { spec: { size: 4 } })).send("DELETED", widget("c", 5));
    stream.bookmark(6).bookmark(7, "false");
    await clock.settle();
    expect(widgets.status()).toMatchObject({ synced: false, objects: 0 });
    stream.bookmark(8, "true");
    await handler.synced;
    expect(keys()).toEqual(["a", "b"]);
    expect(widgets.get("default/b")?.spec).toEqual({ size: 4 });
    expect(widgets.status()).toMatchObject({ phase: "watching", lastResourceVersion: "8" });
    expect(api.calls).toHaveLength(1);
    expect(api.calls[0]?.query).toMatchObject({
      watch: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
    });
  });

  it("syncs an empty collection by its bookmark alone [case 48]", async () => {
    const { clock, widgets, handler } = start(() => new ScriptedStream().bookmark(3, "true"));
    await clock.settle();
    await handler.synced;
    expect(widgets.status()).toMatchObject({ synced: true, objects: 0, lastResourceVersion: "3" });
  });

  it.each([
    ["invalid", failure(422, "Invalid", "sendInitialEvents: Forbidden"), false],
    ["an internal error", failure(500, "InternalError"), true],
  ])('refused as %s, it lists at "0" in pages of 500 and watches [case 49]', async (_, refusal, triesAgain) => {
    const streams = [new ScriptedStream(), new ScriptedStream()];
    const [first] = streams;
    const { clock, api } = start((call) =>
      isListing(call) ? refusal : call.isWatch ? streams.shift()! : listOf(10, []),
    );
    await clock.settle();
    expect(api.lists.map((call) => call.query)).toEqual([{ resourceVersion: "0", limit: "500" }]);
    expect(api.watches.at(-1)?.query.resourceVersion).toBe("10");
    first!.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(api.watches.filter(isListing)).toHaveLength(triesAgain ? 2 : 1);
  });

  it("repeats the streamed list after 429 [case 49]", async () => {
    const { clock, api, widgets } = start((_, count) =>
      count < 3 ? failure(429, "TooManyRequests") : new ScriptedStream().bookmark(3, "true"),
    );
    await clock.advance(PAST_BACKOFF_MS);
    expect(api.calls.every(isListing)).toBe(true);
    expect([api.calls.length, widgets.status().synced]).toEqual([3, true]);
  });

  it("restarts if cut before its end; later a plain watch continues, and a 410 leads to a new list [case 50]", async () => {
    const streams = [
      new ScriptedStream().send("ADDED", widget("old", 1)).close(),
      new ScriptedStream().send("ADDED", widget("a", 2)).bookmark(5, "true").close(),
      new ScriptedStream(),
      new ScriptedStream().send("ADDED", widget("b", 9)).bookmark(9, "true"),
    ];
    const [, , third] = streams;
    const { clock, api, keys } = start(() => streams.shift()!);
    await clock.advance(PAST_BACKOFF_MS);
    expect(keys()).toEqual(["a"]);
    expect(api.calls.map(isListing)).toEqual([true, true, false]);
    expect(api.calls[2]?.query.resourceVersion).toBe("5");
    third!.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(isListing(api.calls[3]!)).toBe(true);
    expect(api.calls[3]?.query.resourceVersion).toBe("5");
    expect(keys()).toEqual(["b"]);
  });

  it('asks for the newest version ("") after 410 or a too large version', async () => {
    for (const stale of [failure(410, "Expired"), failure(504, "Timeout", "Too large resource version")]) {
      const first = new ScriptedStream().bookmark(5, "true");
      const { clock, api } = start((_, count) => [first, stale, new ScriptedStream().bookmark(9, "true")][count - 1]!);
      await clock.settle();
      first.send("ERROR", statusBody(410, "Expired"));
      await clock.advance(PAST_BACKOFF_MS);
      expect(api.calls.every(isListing)).toBe(true);
      expect(versions(api.calls)).toEqual(["", "5", ""]);
    }
  });

  it("gives up a stream that never sends its end, lists in pages, and remembers that for the server", async () => {
    const { clock, api, widgets, informers } = start((call) => {
      if (isListing(call)) return new ScriptedStream().send("ADDED", widget("a", 1)).bookmark(2);
      return call.isWatch ? new ScriptedStream() : listOf(10, [widget("a", 1)]);
    });
    await clock.advance(29_000);
    expect(api.lists).toHaveLength(0);
    await clock.advance(1000);
    expect(widgets.status()).toMatchObject({ synced: true, phase: "watching", objects: 1 });
    expect(widgets.status().lastError?.code).toBe("INFORMER_STREAM_LIST_STALLED");
    const other = informers.for(Widget, { labelSelector: "a=b" });
    await clock.settle();
    expect(other.status().synced).toBe(true);
    expect(api.calls.filter(isListing)).toHaveLength(1);
    expect(api.lists.at(-1)?.query.labelSelector).toBe("a=b");
  });

  it("lets a long streamed list take its time while objects arrive", async () => {
    const stream = new ScriptedStream();
    const { clock, api, widgets } = start(() => stream);
    for (let number = 0; number < 10; number++) {
      await clock.advance(20_000);
      stream.send("ADDED", widget(`w${number}`, number + 1));
    }
    stream.bookmark(20, "true");
    await clock.settle();
    expect([api.calls.length, widgets.status().objects]).toEqual([1, 10]);
  });

  it("does not ask for streamed lists if they are switched off", async () => {
    const { clock, api } = start(({ isWatch }) => (isWatch ? new ScriptedStream() : listOf(10, [])), LISTS);
    await clock.settle();
    expect(api.calls.some(isListing)).toBe(false);
  });
});
