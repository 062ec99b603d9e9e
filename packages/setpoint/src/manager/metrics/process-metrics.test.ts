import { closeSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MetricRegistry } from "./metric-registry.js";
import { collectProcess } from "./process-metrics.js";

describe("the metrics of the process", () => {
  const registry = new MetricRegistry();
  collectProcess(registry);
  // A second manager: the values are not counted twice.
  collectProcess(registry);
  const value = (name: string): number => {
    const line = registry
      .exposition()
      .split("\n")
      .find((each) => each.startsWith(`${name} `));
    return Number(line?.split(" ")[1]);
  };

  it("are in seconds and bytes", () => {
    const { user, system } = process.cpuUsage();
    expect(value("process_cpu_seconds_total")).toBeGreaterThanOrEqual((user + system) / 1e6);
    expect(value("process_resident_memory_bytes")).toBeLessThan(1.9 * process.memoryUsage.rss());
    const startedMs = value("process_start_time_seconds") * 1000;
    expect(Math.abs(startedMs + performance.now() - Date.now())).toBeLessThan(60_000);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(10 * 2 ** 20);
    expect(value("nodejs_heap_size_used_bytes")).toBeLessThan(value("nodejs_heap_size_total_bytes"));
  });

  it.runIf(process.platform === "linux")(
    "include open files and virtual memory on Linux, the only system that reports them",
    () => {
      expect(value("process_virtual_memory_bytes")).toBeGreaterThan(value("process_resident_memory_bytes"));
      const before = value("process_open_fds");
      const opened = Array.from({ length: 20 }, () => openSync(import.meta.filename, "r"));
      try {
        expect(value("process_open_fds")).toBeGreaterThan(before + 10);
        expect(value("process_max_fds")).toBeGreaterThan(value("process_open_fds"));
      } finally {
        for (const each of opened) closeSync(each);
      }
    },
  );
});
