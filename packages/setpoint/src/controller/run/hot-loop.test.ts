import { describe, expect, it } from "vitest";
import type { Cause } from "../causes/cause.js";
import type { WriteRecord } from "../timeline/timeline.js";
import { HotLoopDetector, type TalliedRun } from "./hot-loop.js";

const write = (path: string, verb: WriteRecord["verb"] = "apply"): WriteRecord => ({
  verb,
  kind: "apps/v1/Deployment",
  key: "team/a",
  paths: [path],
});

/** A run caused by another writer of the child. */
const run = (key: string, generation: number, writes: readonly WriteRecord[], more: Partial<TalliedRun> = {}) => ({
  kind: "example.com/v1/Website",
  key,
  generation,
  causes: [{ type: "owned", kind: "apps/v1/Deployment", key: "team/a", change: "updated" }] satisfies readonly Cause[],
  writes,
  contents: new Map<WriteRecord, string>(),
  ...more,
});

describe("HotLoopDetector", () => {
  it("finds the field that is written over and over, and delays the key longer each time", () => {
    const detector = new HotLoopDetector();
    const delays: (number | undefined)[] = [];
    for (let at = 0; at < 13; at++) {
      delays.push(detector.observe(run("team/a", 1, [write("spec.replicas")]), at * 1_000)?.delayMs);
    }
    expect(delays.slice(0, 9)).toEqual(Array.from({ length: 9 }));
    expect(delays.slice(9)).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it("ignores writes that are spread out, differ, or follow a new generation", () => {
    const detector = new HotLoopDetector();
    for (let at = 0; at < 100; at++) {
      expect(detector.observe(run("slow", 1, [write("spec.replicas")]), at * 10_000)).toBeUndefined();
      expect(detector.observe(run("moving", 1, [write(`spec.step${at}`)]), at * 10)).toBeUndefined();
      expect(detector.observe(run("asked", at, [write("spec.replicas")]), at * 10)).toBeUndefined();
      expect(detector.observe(run("idle", 1, []), at)).toBeUndefined();
    }
  });

  const NEWS: readonly Cause[] = [
    { type: "trigger", name: "channel" },
    { type: "requested", by: "reconcile-now" },
    { type: "updated" },
    { type: "dependency", kind: "v1/ConfigMap", key: "team/limits", change: "updated" },
    { type: "owned", kind: "v1/Service", key: "team/a", change: "updated" },
  ];

  it.each(NEWS)("lets a key follow changes elsewhere, within a limit: $type", (cause) => {
    const detector = new HotLoopDetector();
    const observed = (at: number) =>
      detector.observe(run("team/a", 1, [write("spec.replicas")], { causes: [cause] }), at * 100);
    for (let at = 0; at < 99; at++) expect(observed(at)).toBeUndefined();
    expect(observed(99)?.count).toBe(100);
  });

  const ECHOES: readonly Cause[] = [
    { type: "requeue" },
    { type: "recheck", reason: "Waiting" },
    { type: "retry", attempt: 1, error: "conflict" },
    { type: "dependency", kind: "apps/v1/Deployment", key: "team/a", change: "updated" },
  ];

  it.each(ECHOES)("does not count causes that only concern the written object, or nothing: $type", (cause) => {
    const detector = new HotLoopDetector();
    const found = Array.from({ length: 10 }, (_, at) =>
      detector.observe(run("team/a", 1, [write("spec.replicas")], { causes: [cause] }), at * 100),
    );
    expect(found.findIndex((loop) => loop !== undefined)).toBe(9);
  });

  it("does not count status writes of others as changes elsewhere", () => {
    const detector = new HotLoopDetector();
    const status = { ...write("status.ready", "status"), kind: "example.com/v1/Website" };
    const found = Array.from({ length: 30 }, (_, at) =>
      detector.observe(run("team/a", 1, [status], { causes: [{ type: "updated" }] }), at * 100),
    );
    expect(found.findIndex((loop) => loop !== undefined)).toBe(29);
  });

  it("finds two fighting writers even if there are changes elsewhere", () => {
    const detector = new HotLoopDetector();
    const found = Array.from({ length: 20 }, (_, at) => {
      const causes = at % 2 === 0 ? { causes: [{ type: "trigger", name: "timer" } as const] } : {};
      return detector.observe(run("team/a", 1, [write("spec.replicas")], causes), at * 100);
    });
    expect(found.findIndex((loop) => loop !== undefined)).toBe(19);
  });

  it("finds a loop among any number of writes that happen once", () => {
    const detector = new HotLoopDetector();
    const observed = (at: number) => {
      const others = Array.from({ length: 20 }, (_, other) => write(`spec.step${at}-${other}`));
      return detector.observe(run("team/a", 1, [...others, write("spec.replicas")]), at * 6_000)?.write.paths;
    };
    for (let at = 0; at < 9; at++) expect(observed(at)).toBeUndefined();
    expect(observed(9)).toEqual(["spec.replicas"]);
  });

  it("takes changing values for progress, within a limit", () => {
    const detector = new HotLoopDetector();
    const observed = (at: number, content: string) => {
      const patch = write("spec.replicas", "patch");
      return detector.observe(run("team/a", 1, [patch], { contents: new Map([[patch, content]]) }), at * 100);
    };
    for (let at = 0; at < 99; at++) expect(observed(at, `replicas ${at}`)).toBeUndefined();
    expect(observed(99, "replicas 99")?.count).toBe(100);
    detector.forget("team/a");
    const flapping = Array.from({ length: 20 }, (_, at) => observed(at, `replicas ${at % 2}`));
    expect(flapping.findIndex((loop) => loop !== undefined)).toBe(18);
  });

  it("allows more status writes", () => {
    const detector = new HotLoopDetector();
    const found = Array.from({ length: 30 }, (_, at) =>
      detector.observe(run("team/a", 1, [write("status.ready", "status")]), at * 100),
    );
    expect(found.findIndex((loop) => loop !== undefined)).toBe(29);
  });

  it("keeps delaying a key, longer each time, while the loop goes on, and reports its start once", () => {
    const detector = new HotLoopDetector();
    let nowMs = 0;
    const found = [];
    for (let at = 0; at < 20; at++) {
      const loop = detector.observe(run("team/a", 1, [write("spec.replicas")]), nowMs);
      if (loop) found.push(loop);
      nowMs += (loop?.delayMs ?? 0) + 100;
    }
    expect(found.map(({ delayMs }) => delayMs / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
    expect(found.map(({ isNew }) => isNew).indexOf(true)).toBe(0);
    expect(found.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  it("ends an episode once the key was calm, and starts another when it loops again", () => {
    const detector = new HotLoopDetector();
    const again = (fromMs: number) =>
      Array.from({ length: 10 }, (_, at) =>
        detector.observe(run("team/a", 1, [write("spec.replicas")]), fromMs + at),
      ).at(-1);
    expect(again(0)).toMatchObject({ isNew: true, delayMs: 1_000 });
    expect(detector.observe(run("team/a", 1, [write("spec.replicas")]), 70_000)).toBeUndefined();
    expect(again(200_000)).toMatchObject({ isNew: true, delayMs: 1_000 });
  });

  it("suspects an object before it is sure, so that its other writer can be found", () => {
    const detector = new HotLoopDetector();
    for (let at = 0; at < 5; at++) detector.observe(run("team/a", 1, [write("spec.replicas")]), at);
    expect(detector.isSuspect("team/a", "apps/v1/Deployment", "team/a")).toBe(true);
    expect(detector.isSuspect("team/b", "apps/v1/Deployment", "team/a")).toBe(false);
    detector.observe(run("team/a", 1, [write("spec.replicas")]), 120_000);
    expect(detector.isSuspect("team/a", "apps/v1/Deployment", "team/a")).toBe(false);
  });

  it("suspects nothing of a forgotten key", () => {
    const detector = new HotLoopDetector();
    for (let at = 0; at < 5; at++) detector.observe(run("team/a", 1, [write("spec.replicas")]), at);
    detector.forget("team/a");
    expect(detector.isSuspect("team/a", "apps/v1/Deployment", "team/a")).toBe(false);
  });
});
