import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyQueue, type WorkItem } from "./key-queue.js";
import type { Priority } from "./ready-lines.js";

type Causes = readonly string[];

const newQueue = (): KeyQueue<Causes> => new KeyQueue<Causes>((earlier, later) => [...earlier, ...later]);

function takeAll(queue: KeyQueue<Causes>, nowMs = 0): string[] {
  const keys: string[] = [];
  for (let item = queue.take(nowMs); item; item = queue.take(nowMs)) {
    keys.push(item.key);
    queue.done(item, nowMs);
  }
  return keys;
}

describe("KeyQueue", () => {
  it("holds a key once and merges its causes", () => {
    const queue = newQueue();
    expect(queue.add("a/x", ["created"], "normal", 0)).toBe(true);
    expect(queue.add("a/x", ["updated"], "normal", 1)).toBe(false);
    expect(queue.ready).toBe(1);
    expect(queue.take(5)).toMatchObject({ key: "a/x", cause: ["created", "updated"], readySinceMs: 0, startedMs: 5 });
    expect(queue.take(5)).toBeUndefined();
  });

  it("hands out a key again after done, once, if it was added while it was processed [case 56]", () => {
    const queue = newQueue();
    queue.add("a/x", ["first"], "normal", 0);
    const item = queue.take(0)!;
    queue.add("a/x", ["second"], "normal", 0);
    queue.add("a/x", ["third"], "normal", 0);
    expect([queue.ready, queue.processing]).toEqual([0, 1]);
    expect(queue.done(item, 0)).toBe(true);
    const again = queue.take(0)!;
    expect(again.cause).toEqual(["second", "third"]);
    expect(queue.done(again, 0)).toBe(false);
    expect(queue.take(0)).toBeUndefined();
  });

  it("keeps nothing of a finished key: a hundred thousand names in turn use one slot", () => {
    const queue = new KeyQueue<string>((_, later) => later);
    const slots = new Set<number>();
    for (let at = 0; at < 100_000; at++) {
      queue.add(`team/name-${at}`, "created", "normal", at);
      const item = queue.take(at)!;
      slots.add(item.slot);
      queue.done(item, at);
    }
    expect(slots.size).toBe(1);
  });

  it("ignores a second done, also when somebody else processes the key by then", () => {
    const queue = newQueue();
    queue.add("a/x", [], "normal", 0);
    const first = queue.take(0)!;
    queue.done(first, 0);
    queue.add("a/x", [], "normal", 0);
    const second = queue.take(0)!;
    queue.done(first, 0);
    expect([...queue.items()]).toEqual([second]);
    expect(queue.processing).toBe(1);
  });

  it.each([
    [50, 70, 50],
    [50, 30, 30],
  ])("a key delayed by %i ms and by %i ms is handed out once, at %i [case 57]", (firstMs, secondMs, servedMs) => {
    const queue = newQueue();
    queue.addAt("a/x", ["first"], "normal", firstMs);
    queue.addAt("a/x", ["second"], "normal", secondMs);
    expect(queue.nextDueMs).toBe(servedMs);
    expect(queue.promote(servedMs - 1)).toBe(0);
    expect(queue.promote(servedMs)).toBe(1);
    expect(queue.take(servedMs)!.cause).toEqual(["first", "second"]);
    expect([queue.delayed, queue.promote(1_000)]).toEqual([0, 0]);
  });

  it("lets an immediate add replace a pending delay, so that the key does not run twice", () => {
    const queue = newQueue();
    queue.addAt("a/x", ["retry"], "low", 1_000);
    queue.add("a/x", ["updated"], "normal", 1);
    expect(queue.take(1)).toMatchObject({ cause: ["retry", "updated"], priority: "normal" });
    expect(queue.nextDueMs).toBeUndefined();
  });

  it("keeps a delay that was requested while the key was processed", () => {
    const queue = newQueue();
    queue.add("a/x", ["first"], "normal", 0);
    const item = queue.take(0)!;
    queue.addAt("a/x", ["requeue"], "low", 10);
    queue.done(item, 5);
    expect([queue.ready, queue.delayed]).toEqual([0, 1]);
    queue.promote(10);
    expect(takeAll(queue)).toEqual(["a/x"]);
  });

  it("does not hand out a key in use, keeps the highest priority, and counts only queued keys [case 60]", () => {
    const queue = newQueue();
    queue.add("a/x", [], "low", 0);
    queue.add("b/y", [], "normal", 0);
    queue.addAt("c/z", [], "normal", 10);
    expect(queue.ready).toBe(2);
    queue.add("a/x", [], "high", 0);
    queue.add("a/x", [], "low", 0);
    const item = queue.take(0)!;
    expect([item.key, item.priority]).toEqual(["a/x", "high"]);
    queue.add("a/x", [], "high", 0);
    expect(queue.take(0)!.key).toBe("b/y");
    expect(queue.take(0)).toBeUndefined();
    queue.done(item, 0);
    expect(queue.take(0)!.key).toBe("a/x");
  });

  it("cancels a delayed add, and nothing else", () => {
    const queue = newQueue();
    queue.addAt("a/x", ["retry"], "low", 10);
    queue.addAt("a/y", ["retry"], "low", 10);
    expect([queue.cancel("a/x"), queue.cancel("a/x"), queue.cancel("a/unknown")]).toEqual([true, false, false]);
    queue.promote(10);
    expect(takeAll(queue)).toEqual(["a/y"]);
  });

  it("serves a namespace with one key in turn beside one with thousands", () => {
    const queue = newQueue();
    for (let at = 0; at < 5_000; at++) queue.add(`noisy/${at}`, [], "normal", 0);
    queue.add("quiet/x", [], "normal", 0);
    queue.add("cluster-wide", [], "normal", 0);
    expect(takeAll(queue).slice(0, 3)).toEqual(["noisy/0", "quiet/x", "cluster-wide"]);
  });

  it("serves every low-priority key under an endless load of urgent ones", () => {
    const queue = newQueue();
    const waiting = new Set(Array.from({ length: 50 }, (_, at) => `team-${at % 5}/low-${at}`));
    for (const key of waiting) queue.add(key, [], "low", 0);
    let rounds = 0;
    for (; waiting.size > 0; rounds++) {
      queue.add(`busy/${rounds}`, [], "high", rounds);
      queue.add(`busy/normal-${rounds}`, [], "normal", rounds);
      const item = queue.take(rounds)!;
      waiting.delete(item.key);
      queue.done(item, rounds);
    }
    expect(rounds).toBeLessThanOrEqual(50 * 12);
  });
});

type Step =
  | { readonly type: "add"; readonly key: number; readonly priority: Priority; readonly delayMs: number }
  | { readonly type: "take" }
  | { readonly type: "done"; readonly at: number }
  | { readonly type: "wait"; readonly ms: number };

const priority = fc.constantFrom<Priority>("high", "normal", "low");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("add" as const),
      key: fc.nat(12),
      priority,
      delayMs: fc.oneof(fc.constant(0), fc.nat(30)),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ type: "take" }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("done" as const), at: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("wait" as const), ms: fc.nat(20) }) },
);

describe("KeyQueue, whatever happens", () => {
  it("loses no cause, runs no key twice at once, and is never later than the earliest requested delay [case 14]", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const queue = newQueue();
        const inHand: WorkItem<Causes>[] = [];
        /** Causes that were added and not yet handed out, with the time by which they must be queued. */
        const owed = new Map<string, Map<string, number>>();
        let nowMs = 0;
        let given = 0;

        const hand = (item: WorkItem<Causes> | undefined): void => {
          if (!item) return;
          expect(inHand.map(({ key }) => key)).not.toContain(item.key);
          const owedToKey = owed.get(item.key);
          expect([...item.cause].sort()).toEqual([...(owedToKey?.keys() ?? [])].sort());
          owed.delete(item.key);
          inHand.push(item);
        };
        const settle = (): void => {
          queue.promote(nowMs);
          const late = [...owed].filter(([, causes]) => Math.min(...causes.values()) <= nowMs).map(([key]) => key);
          const held = new Set(inHand.map(({ key }) => key));
          expect(queue.ready).toBe(late.filter((key) => !held.has(key)).length);
        };

        for (const current of steps) {
          if (current.type === "add") {
            const key = `team-${current.key % 3}/key-${current.key}`;
            const cause = `cause-${given++}`;
            owed.set(key, (owed.get(key) ?? new Map()).set(cause, nowMs + current.delayMs));
            if (current.delayMs > 0) queue.addAt(key, [cause], current.priority, nowMs + current.delayMs);
            else queue.add(key, [cause], current.priority, nowMs);
          } else if (current.type === "take") {
            hand(queue.take(nowMs));
          } else if (current.type === "done") {
            const [item] = inHand.splice(current.at, 1);
            if (item) queue.done(item, nowMs);
          } else {
            nowMs += current.ms;
          }
          settle();
          expect(queue.processing).toBe(inHand.length);
        }

        for (const item of inHand.splice(0)) queue.done(item, nowMs);
        queue.promote(nowMs + 1_000);
        for (let item = queue.take(nowMs); item; item = queue.take(nowMs)) {
          hand(item);
          inHand.pop();
          queue.done(item, nowMs);
        }
        expect([owed.size, queue.ready, queue.delayed, queue.processing]).toEqual([0, 0, 0, 0]);
      }),
    );
  });
});
