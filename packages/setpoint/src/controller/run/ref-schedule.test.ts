import fc from "fast-check";
import { expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import type { KubeObject } from "../../kinds/object.js";
import { done, retry, waitFor } from "../../loop/outcome.js";
import { type Cause, mergeControllerCauses } from "../causes/cause.js";
import { controller } from "../controller.js";
import { Website } from "../world.testing.js";
import { openRefSchedule, type RefSchedule } from "./ref-schedule.js";

const KEYS = ["team/a", "team/b", "team/c", "team/d", "team/e"];

/**
 * A queue and workers around a schedule: a script decides which object changes, which key is taken and which run
 * returns.
 */
class Play {
  readonly objects = new Map<string, KubeObject & { readonly spec: { readonly refs: readonly string[] } }>();
  readonly queue = new Map<string, readonly Cause[]>();
  readonly running = new Map<
    string,
    { readonly cancelled: AbortSignal | undefined; readonly causes: readonly Cause[] }
  >();
  /** The refs of objects as the schedule knows them: a run keeps those that it started with. */
  readonly refs = new Map<string, readonly string[]>();
  /** Keys with a change that no run has handled yet. */
  readonly owed = new Set<string>();
  readonly schedule: RefSchedule;

  constructor() {
    const loop = controller(Website, {
      refs: (site) => (site.spec as unknown as { refs: string[] }).refs,
      reconcile() {},
    });
    const objectOf = (key: string) => this.objects.get(key);
    const enqueue = (key: string, causes: readonly Cause[]) => this.#add(key, causes);
    this.schedule = openRefSchedule({ controller: loop as never, clock: new VirtualClock(), objectOf, enqueue }, []);
  }

  /** Creates or changes an object. */
  change(key: string, refs: readonly string[]): void {
    const metadata = { name: key.slice(5), namespace: "team" } as KubeObject["metadata"];
    this.objects.set(key, { apiVersion: "web.example.com/v1", kind: "Website", metadata, spec: { refs } });
    this.owed.add(key);
    if (!this.running.has(key)) this.refs.set(key, refs);
    this.#add(key, [{ type: "updated" }, ...this.schedule.note(key)]);
  }

  remove(key: string): void {
    this.objects.delete(key);
    this.owed.delete(key);
    this.#add(key, [{ type: "deleted" }]);
  }

  take(which: number): void {
    const keys = [...this.queue.keys()].filter((key) => !this.running.has(key));
    const key = keys[which % keys.length];
    if (key === undefined) return;
    const causes = this.queue.get(key)!;
    this.queue.delete(key);
    const object = this.objects.get(key);
    if (!object) {
      this.schedule.forget(key);
      this.refs.delete(key);
      return;
    }
    this.refs.set(key, object.spec.refs);
    const admission = this.schedule.admit(key, object, causes);
    if (admission.type === "hold") return;
    this.owed.delete(key);
    if (admission.ends) return; // part of a cycle: its code is not called
    for (const [other, { cancelled }] of this.running) {
      const isRelated = this.#isAbove(key, other) || this.#isAbove(other, key);
      expect(isRelated && !cancelled?.aborted, `${key} runs beside ${other}`).toBe(false);
      expect(this.#isAbove(key, other), `${key} runs before ${other} has returned`).toBe(false);
    }
    this.running.set(key, { cancelled: admission.cancelled, causes });
  }

  end(which: number, how: number): void {
    const key = [...this.running.keys()][which % this.running.size];
    if (key === undefined) return;
    const { cancelled, causes } = this.running.get(key)!;
    this.running.delete(key);
    if (cancelled?.aborted && this.objects.has(key)) this.owed.add(key);
    const outcome = how === 0 ? retry(new Error("by chance")) : how === 1 ? waitFor("Test") : done();
    this.schedule.returned(key, causes, outcome);
    // A failed or waiting object is requeued, as the queue would do.
    if (how < 2 && this.objects.has(key)) this.#add(key, [{ type: "requeue" }]);
  }

  #add(key: string, causes: readonly Cause[]): void {
    this.queue.set(key, mergeControllerCauses(this.queue.get(key) ?? [], causes));
  }

  /** Follows refs, but not through objects of a cycle, which never run. */
  #isAbove(above: string, below: string): boolean {
    const seen = new Set(this.#refsOf(below));
    for (const key of seen) if (!this.#reach(key).has(key)) for (const ref of this.#refsOf(key)) seen.add(ref);
    return seen.has(above);
  }

  #reach(start: string): ReadonlySet<string> {
    const seen = new Set(this.#refsOf(start));
    for (const key of seen) for (const ref of this.#refsOf(key)) seen.add(ref);
    return seen;
  }

  #refsOf(key: string): readonly string[] {
    return this.refs.get(key)?.map((ref) => `team/${ref}`) ?? [];
  }
}

const step = fc.tuple(fc.nat(9), fc.nat(255), fc.nat(255));

it("never runs an object beside one that it refers to, and leaves no run pending at rest", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (script) => {
      const play = new Play();
      for (const [operation, first, second] of script) {
        const key = KEYS[first % KEYS.length]!;
        if (operation < 3)
          play.change(
            key,
            KEYS.filter((_, at) => (second >> at) & 1)
              .map((each) => each.slice(5))
              .filter((name) => second >= 240 || `team/${name}` < key),
          );
        else if (operation === 3) play.remove(key);
        else if (operation < 7) play.take(first);
        else play.end(first, second % 8);
      }
      for (let turn = 0; play.queue.size + play.running.size > 0; turn++) {
        expect(turn, "turns until all is at rest").toBeLessThan(400);
        play.take(0);
        play.end(0, 7);
      }
      expect([...play.owed]).toEqual([]);
    }),
  );
});
