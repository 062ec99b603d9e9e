import { describe, expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import type { KubeObject } from "../kinds/object.js";
import type { InformerEvent } from "./informer.js";
import { type HandlerStep, Listener } from "./listener.js";

const add = (key: string): HandlerStep => ({
  type: "add",
  key,
  object: { object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: key } } as never },
  isInInitialList: false,
});

function world(handler: (event: InformerEvent<KubeObject>) => void | Promise<void>) {
  const clock = new VirtualClock();
  const errors: string[] = [];
  const listener = new Listener(
    handler,
    {},
    {
      clock,
      random: seededRandom(1),
      onHandlerError: (key, error) => errors.push(`${key}: ${(error as Error).message}`),
      everything: () => [],
      onDispose: () => {},
    },
  );
  return { clock, errors, listener };
}

describe("a listener of single events", () => {
  it("calls an idle handler at once", () => {
    const seen: string[] = [];
    const { listener } = world(({ key }) => void seen.push(key));
    listener.pushEvent(add("a"));
    expect(seen).toEqual(["a"]);
    expect(listener.backlog).toBe(0);
  });

  it("keeps the order, however events arrive and however long the handler takes", async () => {
    const seen: string[] = [];
    let release = (): void => {};
    const { clock, listener } = world(({ key }) => {
      seen.push(key);
      if (key === "b") return new Promise((resolve) => (release = resolve));
    });
    listener.push(add("a"));
    listener.pushEvent(add("b"));
    listener.pushEvent(add("c"));
    await clock.settle();
    expect(seen).toEqual(["a", "b"]);
    listener.push(add("d"));
    release();
    await clock.settle();
    listener.pushEvent(add("e"));
    expect(seen).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("handles events that its own handler causes after the current one", async () => {
    const seen: string[] = [];
    const { clock, listener } = world(({ key }) => {
      if (key === "a") listener.pushEvent(add("b"));
      seen.push(key);
    });
    listener.pushEvent(add("a"));
    await clock.settle();
    expect(seen).toEqual(["a", "b"]);
    expect(listener.backlog).toBe(0);
  });

  it("reports errors of a handler, synchronous or not, and goes on", async () => {
    const seen: string[] = [];
    const { clock, errors, listener } = world(({ key }) => {
      seen.push(key);
      if (key === "a") throw new Error("at once");
      if (key === "b") return Promise.reject(new Error("later"));
    });
    for (const key of ["a", "b", "c"]) listener.pushEvent(add(key));
    await clock.settle();
    expect(seen).toEqual(["a", "b", "c"]);
    expect(errors).toEqual(["a: at once", "b: later"]);
  });

  it("does not call a removed handler", () => {
    const seen: string[] = [];
    const { listener } = world(({ key }) => void seen.push(key));
    listener[Symbol.dispose]();
    listener.pushEvent(add("a"));
    expect(seen).toEqual([]);
  });
});
