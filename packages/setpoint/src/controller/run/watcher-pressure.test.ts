import { describe, expect, it } from "vitest";
import { seededRandom } from "../../clock/random.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { Listener } from "../../informer/listener.js";
import type { KubeObject } from "../../kinds/object.js";
import { watcher } from "../watcher.js";
import { Website } from "../world.testing.js";
import { LiveWatcher } from "./live-watcher.js";

/** More steps than a watcher queues, and more for one object than it keeps. */
const MANY = 3_000;
const OF_ONE = 200;

const site = (name: string, resourceVersion: number): Website => ({
  apiVersion: "web.example.com/v1",
  kind: "Website",
  metadata: { name, namespace: "team", uid: name, resourceVersion: `${resourceVersion}`, creationTimestamp: "" },
  spec: { image: "nginx" },
});

/** A watcher whose events come from the test, delivered as by an informer. */
async function watched(add: () => Promise<void>, update: (old: Website, object: Website, merged: boolean) => void) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  let listener: Listener<KubeObject> | undefined;
  const share = {
    addHandler: (handler: ConstructorParameters<typeof Listener<KubeObject>>[0]) => {
      const context = { clock, random, onHandlerError: () => {}, everything: () => [], onDispose: () => {} };
      listener = new Listener(handler, {}, context);
      listener.endInitialList();
      return listener;
    },
    [Symbol.dispose]: () => listener?.[Symbol.dispose](),
  };
  const cluster = { informers: { for: () => share } } as never;
  const declared = watcher(Website, {
    concurrency: 1,
    add,
    update: (object, old, { merged }) => update(old, object, merged),
  });
  const run = new LiveWatcher(declared, { cluster, clock, random });
  await run.start();
  return { clock, run, listener: listener! };
}

describe("a watcher that is slower than its events", () => {
  it("queues a limited number of steps, keeps an object's updates up to a limit, and marks merged ones", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let adds = 0;
    const updates: { readonly from: number; readonly to: number; readonly merged: boolean }[] = [];
    const versionOf = ({ metadata }: Website): number => Number(metadata.resourceVersion);
    const { clock, run, listener } = await watched(
      async () => {
        adds++;
        await gate;
      },
      (old, object, merged) => void updates.push({ from: versionOf(old), to: versionOf(object), merged }),
    );
    for (let at = 0; at < MANY; at++) {
      const key = `team/site-${at}`;
      listener.push({ type: "add", key, object: { object: site(`site-${at}`, 0) }, isInInitialList: false });
    }
    await clock.settle();
    expect(run.backlog).toBeLessThan(MANY / 2);
    expect(run.backlog + listener.backlog).toBeGreaterThanOrEqual(MANY - 1);
    for (let version = 1; version <= OF_ONE; version++) {
      const [old, object] = [site("site-0", version - 1), site("site-0", version)];
      listener.push({ type: "update", key: "team/site-0", old: { object: old }, object: { object }, isResync: false });
    }
    open();
    await clock.settle();
    await run.stop();

    expect(adds).toBe(MANY);
    expect(updates.map(({ from }) => from)).toEqual([0, ...updates.slice(0, -1).map(({ to }) => to)]);
    expect(updates.at(-1)?.to).toBe(OF_ONE);
    expect(updates.length).toBeLessThan(OF_ONE);
    expect(updates.filter(({ merged }) => merged)).toEqual(updates.filter(({ from, to }) => to - from > 1));
  });
});
