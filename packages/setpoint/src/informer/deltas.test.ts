import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyOf } from "../kinds/kind.js";
import { Deltas, type Partition, type WatchEventType } from "./deltas.js";
import type { HandlerStep } from "./listener.js";
import { type Incoming, isUnreadable, ObjectDecoder } from "./reflector/incoming.js";
import { Widget, widget } from "./reflector/scripted-api.testing.js";
import { Retention } from "./retention.js";
import { Store } from "./store/store.js";

const reader = new ObjectDecoder(Widget, new Retention());

function incoming(object: Widget): Incoming {
  const read = reader.readObject(object);
  if (isUnreadable(read)) throw new Error(read.refused);
  return read;
}

function setup() {
  const store = new Store(Widget);
  const steps: HandlerStep<Widget>[] = [];
  const deltas = new Deltas(store, {
    isNeeded: () => true,
    isTracking: () => true,
    push: (step) => steps.push(step),
    unchanged: () => {},
    changed: () => {},
  });
  const partition: Partition = { namespace: undefined, resourceVersion: "", isSynced: false };
  const list = (resourceVersion: number, objects: readonly Widget[], isNewest = false): void => {
    const stage = deltas.beginList();
    for (const object of objects) deltas.stage(stage, incoming(object));
    deltas.replace(stage, String(resourceVersion), partition, isNewest);
  };
  const event = (type: WatchEventType, object: Widget): void => deltas.apply(type, incoming(object), partition);
  const observe = (object: Widget, isInScope = true): void => {
    const isNews = deltas.isNews(keyOf(object), object.metadata.resourceVersion, partition);
    if (isNews) deltas.observe(incoming(object), isInScope);
  };
  const version = (name: string): string | undefined => store.get(`default/${name}`)?.metadata.resourceVersion;
  const told = (): string[] =>
    steps.splice(0).map((step) => `${step.type} ${step.object?.object.metadata.resourceVersion}`);
  return { store, deltas, partition, list, event, observe, version, told, steps };
}

describe("read your writes", () => {
  it("shows an own write at once, also to handlers, and its event changes nothing more", () => {
    const { list, event, observe, version, told } = setup();
    list(5, [widget("a", 3)]);
    observe(widget("a", 8));
    expect(version("a")).toBe("8");
    event("MODIFIED", widget("a", 8));
    expect(told()).toEqual(["add 3", "update 8"]);
  });

  it("ignores an older event, and accepts a newer foreign one", () => {
    const { list, event, observe, version, told } = setup();
    list(5, [widget("a", 3)]);
    observe(widget("a", 8));
    event("MODIFIED", widget("a", 6));
    expect(version("a")).toBe("8");
    event("MODIFIED", widget("a", 9));
    expect(version("a")).toBe("9");
    expect(told()).toEqual(["add 3", "update 8", "update 9"]);
  });

  it("does not restore an object that the watch has seen deleted", () => {
    const { list, event, observe, version } = setup();
    list(5, []);
    event("ADDED", widget("a", 6));
    event("DELETED", widget("a", 7));
    observe(widget("a", 6));
    expect(version("a")).toBeUndefined();
  });

  it("shows an own re-creation as a delete and an add, and ignores late events of the predecessor", () => {
    const { list, event, observe, version, told } = setup();
    list(5, [widget("a", 3, { uid: "first" })]);
    observe(widget("a", 8, { uid: "second" }));
    event("DELETED", widget("a", 7, { uid: "first" }));
    event("ADDED", widget("a", 8, { uid: "second" }));
    expect(version("a")).toBe("8");
    expect(told()).toEqual(["add 3", "delete 3", "add 8"]);
  });

  it("survives a list from a server that lags behind", () => {
    const { list, observe, version, told } = setup();
    list(5, [widget("a", 3)]);
    observe(widget("a", 8));
    observe(widget("b", 9));
    list(6, [widget("a", 3)]);
    expect([version("a"), version("b")]).toEqual(["8", "9"]);
    list(10, [widget("a", 8)]);
    expect([version("a"), version("b")]).toEqual(["8", undefined]);
    expect(told()).toEqual(["add 3", "update 8", "add 9", "delete 9"]);
  });

  it("works before the first list", () => {
    const { list, observe, version } = setup();
    observe(widget("a", 8));
    expect(version("a")).toBe("8");
    list(6, []);
    expect(version("a")).toBe("8");
  });

  it("accepts the newest list of a server that lost its history, except for writes since that list started", () => {
    const { deltas, partition, list, observe, version } = setup();
    list(500, [widget("a", 400)]);
    observe(widget("a", 600));
    const stage = deltas.beginList();
    observe(widget("b", 601));
    deltas.stage(stage, incoming(widget("a", 7)));
    deltas.replace(stage, "9", partition, true);
    expect([version("a"), version("b")]).toEqual(["7", "601"]);
  });

  it("removes an object that an own write moved out of scope, and older events do not restore it", () => {
    const { list, event, observe, version } = setup();
    list(5, [widget("a", 3)]);
    observe(widget("a", 8), false);
    event("MODIFIED", widget("a", 6));
    expect(version("a")).toBeUndefined();
    event("MODIFIED", widget("a", 9));
    expect(version("a")).toBe("9");
  });

  it("accepts everything if resourceVersions are not numbers", () => {
    const { list, event, observe, version } = setup();
    list(5, [widget("a", "x1")]);
    observe(widget("a", "x2"));
    expect(version("a")).toBe("x2");
    event("MODIFIED", widget("a", "x3"));
    expect(version("a")).toBe("x3");
  });
});

/** The history of the test's server; the informer learns of it later and partly out of order. */
interface ServerEvent {
  readonly type: WatchEventType;
  readonly object: Widget;
  readonly revision: number;
}

class ModelServer {
  revision = 10;
  readonly history: ServerEvent[] = [];
  readonly live = new Map<string, Widget>();

  write(name: string): Widget {
    const known = this.live.get(name);
    const revision = ++this.revision;
    const object = widget(name, revision, { uid: known?.metadata.uid ?? `${name}-${revision}`, spec: { revision } });
    this.live.set(name, object);
    this.history.push({ type: known ? "MODIFIED" : "ADDED", object, revision });
    return object;
  }

  delete(name: string): void {
    const known = this.live.get(name);
    if (!known) return;
    const revision = ++this.revision;
    this.live.delete(name);
    const object = widget(name, revision, { uid: known.metadata.uid });
    this.history.push({ type: "DELETED", object, revision });
  }

  /** All objects at a revision. */
  at(revision: number): Widget[] {
    const objects = new Map<string, Widget>();
    for (const event of this.history) {
      if (event.revision > revision) break;
      if (event.type === "DELETED") objects.delete(event.object.metadata.name);
      else objects.set(event.object.metadata.name, event.object);
    }
    return [...objects.values()];
  }
}

type Move =
  | { readonly do: "foreign-write" | "foreign-delete" | "own-write"; readonly name: string }
  | { readonly do: "answer"; readonly which: number }
  | { readonly do: "deliver"; readonly count: number }
  | { readonly do: "relist"; readonly back: number }
  | { readonly do: "bookmark" };

const name = fc.constantFrom("a", "b", "c");
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ do: fc.constantFrom("foreign-write" as const, "foreign-delete" as const, "own-write" as const), name }),
  fc.record({ do: fc.constant("answer" as const), which: fc.nat(5) }),
  fc.record({ do: fc.constant("deliver" as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant("relist" as const), back: fc.nat(6) }),
  fc.record({ do: fc.constant("bookmark" as const) }),
);

describe("a random interleaving of writes, responses, events and lists", () => {
  it("never falls behind an own write, loses no foreign event, and ends equal to the server", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const { store, deltas, partition, list, event, observe, steps } = setup();
        const server = new ModelServer();
        const answers: Widget[] = [];
        /** The newest own write of each name that the informer knows. */
        const told = new Map<string, number>();
        const promised: ServerEvent[] = [];
        let next = 0;
        list(server.revision, []);
        const revisionOf = (key: string): number | undefined => {
          const slot = store.slotOf(`default/${key}`);
          return slot === undefined ? undefined : Number(store.resourceVersionOf(slot));
        };
        const deliver = (): void => {
          const one = server.history[next];
          if (!one) return;
          next++;
          const key = one.object.metadata.name;
          if (one.revision > (told.get(key) ?? 0) && one.revision > Number(partition.resourceVersion))
            promised.push(one);
          event(one.type, one.object);
        };
        const answer = (written: Widget): void => {
          observe(written);
          const key = written.metadata.name;
          told.set(key, Math.max(told.get(key) ?? 0, Number(written.metadata.resourceVersion)));
        };
        const check = (): void => {
          for (const [key, revision] of told) {
            const shown = revisionOf(key);
            if (shown !== undefined) expect(shown).toBeGreaterThanOrEqual(revision);
            else {
              const isDeleted = server.history.some(
                (one) => one.object.metadata.name === key && one.type === "DELETED" && one.revision > revision,
              );
              expect(isDeleted).toBe(true);
            }
          }
        };
        for (const one of moves) {
          switch (one.do) {
            case "foreign-write":
              server.write(one.name);
              break;
            case "foreign-delete":
              server.delete(one.name);
              break;
            case "own-write":
              answers.push(server.write(one.name));
              break;
            case "answer": {
              const [written] = answers.splice(one.which % Math.max(1, answers.length), 1);
              if (written) answer(written);
              break;
            }
            case "deliver":
              for (let count = 0; count < one.count; count++) deliver();
              break;
            case "relist": {
              const revision = Math.max(Number(partition.resourceVersion), server.revision - one.back);
              list(revision, server.at(revision));
              while (server.history[next] && server.history[next]!.revision <= revision) next++;
              break;
            }
            case "bookmark":
              if (next === server.history.length) deltas.advance(partition, String(server.revision));
          }
          check();
        }
        for (const written of answers) answer(written);
        while (next < server.history.length) deliver();
        deltas.advance(partition, String(server.revision));
        const stored = [...store.keys()].map((key) => store.get(key)!).sort(byName);
        expect(stored).toEqual([...server.live.values()].sort(byName));
        expectSteps(steps, server.live);
        for (const one of promised) {
          const wasSeen = steps.some((step) => step.object?.object.metadata.resourceVersion === String(one.revision));
          if (one.type !== "DELETED") expect(wasSeen).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

const byName = (a: Widget, b: Widget): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** The steps are consistent with each other, and lead to the final state. */
function expectSteps(steps: readonly HandlerStep<Widget>[], end: ReadonlyMap<string, Widget>): void {
  const state = new Map<string, Widget>();
  for (const step of steps) {
    const before = state.get(step.key);
    switch (step.type) {
      case "add":
        expect(before).toBeUndefined();
        state.set(step.key, step.object.object);
        break;
      case "update":
        expect(step.old.object).toEqual(before);
        expect(step.object.object.metadata.uid).toBe(before!.metadata.uid);
        expect(Number(step.object.object.metadata.resourceVersion)).toBeGreaterThan(
          Number(before!.metadata.resourceVersion),
        );
        state.set(step.key, step.object.object);
        break;
      case "delete":
        expect(step.object?.object.metadata.uid).toBe(before?.metadata.uid);
        state.delete(step.key);
    }
  }
  expect(new Set([...state.values()].map((one) => one.metadata.resourceVersion))).toEqual(
    new Set([...end.values()].map((one) => one.metadata.resourceVersion)),
  );
}
