import { describe, expect, it } from "vitest";
import { PAST_BACKOFF_MS, start } from "../watched-widgets.testing.js";
import { json, ScriptedStream, widget } from "./scripted-api.testing.js";

describe("reflector: a kind that comes and goes", () => {
  const discovery = (path: string, isServed: boolean) => {
    const groups = [{ name: "apps", versions: [{ version: "v1" }] }];
    if (isServed) groups.push({ name: "example.com", versions: [{ version: "v1" }] });
    if (path === "/apis") return json({ kind: "APIGroupList", groups });
    return json({ kind: "APIResourceList", resources: [{ name: "widgets" }] });
  };
  /** The response of a real server for an unknown group. */
  const notFound = () => ({ ...json("404 page not found", 404), headers: { "content-type": "text/plain" } });

  it("waits for a missing kind, and follows it as it appears, vanishes and comes back", async () => {
    let isServed = false;
    let stream = new ScriptedStream();
    const { clock, api, widgets, seen, keys } = start((call) => {
      if (!call.path.endsWith("/widgets")) return discovery(call.path, isServed);
      if (!isServed) return notFound();
      return stream;
    });
    await clock.advance(600_000);
    expect(widgets.status()).toMatchObject({ phase: "waiting-for-kind", synced: false });
    expect(widgets.status().lastError?.message).toContain("example.com/v1/Widget is not served");
    expect(api.calls.length).toBeLessThan(25);

    isServed = true;
    stream.send("ADDED", widget("a", 5)).bookmark(6, "true");
    await clock.advance(PAST_BACKOFF_MS);
    expect(keys()).toEqual(["a"]);

    isServed = false;
    stream.close();
    await clock.settle();
    expect(widgets.status()).toMatchObject({ phase: "waiting-for-kind", synced: true, objects: 0 });

    isServed = true;
    stream = new ScriptedStream().send("ADDED", widget("a", 50, { uid: "another" })).bookmark(51, "true");
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen).toEqual(["add default/a@5", "delete? default/a@5", "add default/a@50"]);
    expect(widgets.status().phase).toBe("watching");
  });

  it.each([
    ["while discovery still lists the kind", (path: string) => discovery(path, true)],
    ["of something that answers every path so", notFound],
  ])("deletes nothing for a 404 %s", async (_, discover) => {
    const first = new ScriptedStream().send("ADDED", widget("a", 5)).bookmark(6, "true");
    const { clock, widgets, keys } = start((call, count) => {
      if (!call.path.endsWith("/widgets")) return discover(call.path);
      return count === 1 ? first : notFound();
    });
    await clock.settle();
    first.close();
    await clock.advance(10 * PAST_BACKOFF_MS);
    expect(keys()).toEqual(["a"]);
    expect(widgets.status()).toMatchObject({ phase: "backing-off", lastError: { code: "INFORMER_KIND_UNCLEAR" } });
  });

  it("repeats discovery if its response stalls", async () => {
    const silent = new ScriptedStream();
    const streams = [new ScriptedStream().send("ADDED", widget("a", 5)).bookmark(6, "true")];
    const { clock, widgets } = start((call, count) => {
      if (!call.path.endsWith("/widgets")) return silent;
      return count === 1 ? notFound() : streams.shift()!;
    });
    await clock.advance(30_000 + PAST_BACKOFF_MS);
    expect(widgets.status()).toMatchObject({ phase: "watching", objects: 1 });
  });
});
