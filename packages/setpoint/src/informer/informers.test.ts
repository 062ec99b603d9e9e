import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import type { InformerEvent } from "./informer.js";
import { Informers } from "./informers.js";
import { listOf, ScriptedApi, ScriptedStream, Widget, widget } from "./reflector/scripted-api.testing.js";

function setup(stream: ScriptedStream = new ScriptedStream()) {
  const clock = new VirtualClock();
  const api = new ScriptedApi((call) => (call.isWatch ? stream : listOf(1, [])));
  const informers = new Informers(api, { clock, random: seededRandom(1) });
  return { clock, api, informers, stream };
}

describe("informers", () => {
  it("lists, watches, and calls handlers", async () => {
    const { clock, informers, stream } = setup();
    const widgets = informers.for(Widget);
    const seen: string[] = [];
    const record = (event: InformerEvent<Widget>): number =>
      seen.push(`${event.type} ${event.key} ${event.object?.metadata.resourceVersion}`);
    const handler = widgets.addHandler((event) => void record(event));
    stream.send("ADDED", widget("a", 5), widget("b", 7));
    await clock.settle();
    expect(widgets.status()).toMatchObject({ phase: "listing", synced: false, objects: 0 });
    stream.bookmark(9, "true");
    await widgets.synced();
    await handler.synced;
    stream.send("MODIFIED", widget("a", 10, { spec: { size: 2 } })).send("DELETED", widget("b", 11));
    await clock.settle();
    expect(seen).toEqual(["add default/a 5", "add default/b 7", "update default/a 10", "delete default/b 11"]);
    expect(widgets.get("default/a")?.spec).toEqual({ size: 2 });
    expect([...widgets.keys()]).toEqual(["default/a"]);
    expect(widgets.status()).toMatchObject({ phase: "watching", synced: true, lastResourceVersion: "11", objects: 1 });
    await informers[Symbol.asyncDispose]();
    expect(widgets.status().phase).toBe("stopped");
  });

  it("shares one informer per kind and scope until the last user leaves", async () => {
    const { clock, api, informers, stream } = setup();
    const first = informers.for(Widget, { namespaces: ["b", "a"] });
    const second = informers.for(Widget, { namespaces: ["a", "b"] });
    await clock.settle();
    expect(api.calls.map((call) => call.path).sort()).toEqual([
      "/apis/example.com/v1/namespaces/a/widgets",
      "/apis/example.com/v1/namespaces/b/widgets",
    ]);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(second.status().phase).toBe("listing");
    expect(stream.isCancelled).toBe(false);
    second[Symbol.dispose]();
    await clock.settle();
    expect(() => second.get("a/x")).toThrow("stopped");
    expect([...informers.statuses()]).toEqual([]);
  });
});
