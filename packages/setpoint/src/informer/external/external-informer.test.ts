import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../clock/random.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import type { InformerEvent } from "../informer.js";
import { isOlder } from "../reflector/revision.js";
import { json, ScriptedApi, ScriptedStream, statusBody, Widget, widget } from "../reflector/scripted-api.testing.js";
import type { BodyStore, StoredBody } from "../store/body-store.js";
import { ExternalInformer } from "./external-informer.js";

const PAST_BACKOFF_MS = 60_001;

/** Bodies in a map, which can be made to fail and to forget. */
class MapBodies implements BodyStore {
  readonly bodies = new Map<string, StoredBody>();
  failures = 0;

  async get(key: string): Promise<StoredBody | undefined> {
    return this.bodies.get(key);
  }

  async put(key: string, stored: StoredBody): Promise<boolean> {
    if (this.failures-- > 0) throw new Error("the body store is down");
    const known = this.bodies.get(key);
    if (known && isOlder(stored.resourceVersion, known.resourceVersion)) return false;
    this.bodies.set(key, stored);
    return true;
  }

  async delete(key: string): Promise<void> {
    if (this.failures-- > 0) throw new Error("the body store is down");
    this.bodies.delete(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function start(streams: ScriptedStream[]) {
  const clock = new VirtualClock();
  const bodies = new MapBodies();
  const errors: unknown[] = [];
  const api = new ScriptedApi((call) =>
    call.isWatch ? (streams.shift() ?? new ScriptedStream()) : json(widget(call.path.split("/").at(-1)!, 99)),
  );
  const informer = new ExternalInformer(api, Widget, {
    bodies,
    clock,
    random: seededRandom(3),
    indexes: { size: (object) => [String(object.spec?.size)] },
    onError: (error) => errors.push(error),
  });
  const seen: string[] = [];
  const handler = informer.addHandler((event: InformerEvent<Widget>) => {
    const from = event.type === "update" ? `${event.old.spec ? event.old.metadata.resourceVersion : "lost"}>` : "";
    seen.push(`${event.type} ${event.key}@${from}${event.object?.metadata.resourceVersion}`);
  });
  return { clock, bodies, api, informer, seen, handler, errors };
}

describe("external informer", () => {
  it("keeps bodies outside, and keys, versions and indexes inside", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1, { spec: { size: 1 } })).bookmark(2, "true");
    const { clock, bodies, informer, seen, handler } = start([stream]);
    await informer.synced();
    await handler.synced;
    stream.send("MODIFIED", widget("a", 3, { spec: { size: 2 } })).send("ADDED", widget("b", 4, { spec: { size: 2 } }));
    await clock.settle();
    expect(seen).toEqual(["add default/a@1", "update default/a@1>3", "add default/b@4"]);
    expect([...bodies.bodies.keys()]).toEqual(["default/a", "default/b"]);
    expect((await informer.get("default/a"))?.spec).toEqual({ size: 2 });
    const names: string[] = [];
    for await (const object of informer.byIndex("size", "2")) names.push(object.metadata.name);
    expect(names).toEqual(["a", "b"]);
  });

  it("delivers a delete although the body was lost, and reads a lost body from the server", async () => {
    const first = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const second = new ScriptedStream().send("ADDED", widget("b", 2)).bookmark(9, "true");
    const { clock, bodies, informer, seen } = start([first, second]);
    await informer.synced();
    bodies.bodies.clear();
    expect((await informer.get("default/b"))?.metadata.resourceVersion).toBe("99");
    first.send("MODIFIED", widget("b", 5)).send("MODIFIED", widget("b", 6));
    await clock.settle();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen.slice(2)).toEqual([
      "update default/b@lost>5",
      "update default/b@5>6",
      "delete default/a@undefined",
      "update default/b@6>2",
    ]);
    expect([...informer.keys()]).toEqual(["default/b"]);
  });

  it("with streamed lists syncs an empty collection, and any other only at its end", async () => {
    const empty = start([new ScriptedStream().bookmark(3, "true")]);
    await empty.informer.synced();
    expect([empty.informer.isSynced, empty.informer.size]).toEqual([true, 0]);
    const stream = new ScriptedStream().send("ADDED", widget("a", 1));
    const { clock, informer, seen } = start([stream]);
    await clock.settle();
    expect([informer.isSynced, seen]).toEqual([false, []]);
    stream.bookmark(2, "true");
    await informer.synced();
    expect(informer.size).toBe(1);
  });

  it("with streamed lists finds objects that were deleted while it was disconnected", async () => {
    const first = new ScriptedStream().send("ADDED", widget("a", 1), widget("b", 2)).bookmark(3, "true");
    const second = new ScriptedStream().send("ADDED", widget("b", 2)).bookmark(9, "true");
    const { clock, informer, seen } = start([first, second]);
    await informer.synced();
    first.send("ERROR", statusBody(410, "Expired"));
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen).toEqual(["add default/a@1", "add default/b@2", "delete default/a@1"]);
  });

  it("lists every object completely, however many", async () => {
    const stream = new ScriptedStream();
    const names = Array.from({ length: 1_200 }, (_, at) => `w-${at}`);
    stream
      .send("ADDED", ...names.map((name, at) => widget(name, at + 1, { spec: { size: at } })))
      .bookmark(5_000, "true");
    const { informer } = start([stream]);
    await informer.synced();
    const listed: Widget[] = [];
    for await (const object of informer.list("default")) listed.push(object);
    expect(listed.map(({ metadata, spec }) => `${metadata.name} ${spec?.size}`)).toEqual(
      names.map((name, at) => `${name} ${at}`),
    );
  });

  it("skips nothing while the body store fails", async () => {
    const stream = new ScriptedStream().send("ADDED", widget("a", 1)).bookmark(2, "true");
    const { clock, bodies, informer, seen, errors } = start([stream]);
    bodies.failures = 2;
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen).toEqual(["add default/a@1"]);
    bodies.failures = 3;
    stream.send("DELETED", widget("a", 5)).send("ADDED", widget("a", 6, { uid: "again" }));
    await clock.advance(PAST_BACKOFF_MS);
    expect(seen.slice(1)).toEqual(["delete default/a@5", "add default/a@6"]);
    expect(errors).toHaveLength(5);
    expect(informer.backlog).toBe(0);
  });

  it("does not mistake a body of a former object of the same name for the object", async () => {
    const { informer, bodies } = start([new ScriptedStream().send("ADDED", widget("a", 5)).bookmark(6, "true")]);
    await informer.synced();
    const other = widget("a", 8, { uid: "other" });
    bodies.bodies.set("default/a", { resourceVersion: "8", body: Buffer.from(JSON.stringify(other)) });
    expect((await informer.get("default/a"))?.metadata.resourceVersion).toBe("99");
  });
});
