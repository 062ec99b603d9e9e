import { describe, expect, it } from "vitest";
import { HotLoopDetector } from "./hot-loop.js";
import type { WriteRecord } from "./timeline.js";

const write = (path: string, verb: WriteRecord["verb"] = "apply"): WriteRecord => ({
  verb,
  kind: "apps/v1/Deployment",
  key: "team/a",
  paths: [path],
});

describe("HotLoopDetector", () => {
  it("finds the field that is written over and over, and holds the key back longer each time", () => {
    const detector = new HotLoopDetector();
    const delays: (number | undefined)[] = [];
    for (let run = 0; run < 13; run++) {
      delays.push(detector.observe("team/a", 1, [write("spec.replicas")], run * 1_000)?.delayMs);
    }
    expect(delays.slice(0, 9)).toEqual(Array.from({ length: 9 }));
    expect(delays.slice(9)).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it("is content with writes that are spread out, differ, or follow a new generation", () => {
    const detector = new HotLoopDetector();
    for (let run = 0; run < 100; run++) {
      expect(detector.observe("slow", 1, [write("spec.replicas")], run * 10_000)).toBeUndefined();
      expect(detector.observe("moving", 1, [write(`spec.step${run}`)], run * 10)).toBeUndefined();
      expect(detector.observe("asked", run, [write("spec.replicas")], run * 10)).toBeUndefined();
      expect(detector.observe("idle", 1, [], run)).toBeUndefined();
    }
  });

  it("finds a loop among any number of writes that are made once", () => {
    const detector = new HotLoopDetector();
    const observed = (run: number) => {
      const others = Array.from({ length: 20 }, (_, at) => write(`spec.step${run}-${at}`));
      return detector.observe("team/a", 1, [...others, write("spec.replicas")], run * 6_000)?.write.paths;
    };
    for (let run = 0; run < 9; run++) expect(observed(run)).toBeUndefined();
    expect(observed(9)).toEqual(["spec.replicas"]);
  });

  it("takes values that move for progress, unless there is no end of them", () => {
    const detector = new HotLoopDetector();
    const observed = (run: number, content: string) => {
      const patch = write("spec.replicas", "patch");
      return detector.observe("team/a", 1, [patch], run * 100, new Map([[patch, content]]));
    };
    for (let run = 0; run < 99; run++) expect(observed(run, `replicas ${run}`)).toBeUndefined();
    expect(observed(99, "replicas 99")?.count).toBe(100);
    detector.forget("team/a");
    const flapping = Array.from({ length: 20 }, (_, run) => observed(run, `replicas ${run % 2}`));
    expect(flapping.findIndex((loop) => loop !== undefined)).toBe(18);
  });

  it("lets a status follow the world more often", () => {
    const detector = new HotLoopDetector();
    const found = Array.from({ length: 30 }, (_, run) =>
      detector.observe("team/a", 1, [write("status.ready", "status")], run * 100),
    );
    expect(found.findIndex((loop) => loop !== undefined)).toBe(29);
  });

  it("suspects an object before it is sure, so that its other writer can be found", () => {
    const detector = new HotLoopDetector();
    for (let run = 0; run < 5; run++) detector.observe("team/a", 1, [write("spec.replicas")], run);
    expect(detector.isSuspect("apps/v1/Deployment", "team/a")).toBe(true);
    detector.observe("team/a", 1, [write("spec.replicas")], 120_000);
    expect(detector.isSuspect("apps/v1/Deployment", "team/a")).toBe(false);
  });
});
