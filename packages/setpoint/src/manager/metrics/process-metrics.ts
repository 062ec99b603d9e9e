import { processStartMs } from "../../clock/system-clock.js";
import type { MetricDefinition } from "../../queue/queue-metrics.js";
import type { Collector, MetricRegistry } from "./metric-registry.js";

/**
 * The resources of the process, under the common names of Prometheus clients (`process_*`), so that dashboards for
 * other operators work; and Node's heap, under the names of prom-client. Measured on each scrape. Values that only
 * Linux has are missing elsewhere. Once per registry, however many managers share it.
 */
export function collectProcess(registry: MetricRegistry): void {
  for (const [definition, collector] of MEASURES) registry.collect(definition, collector);
}

const measured =
  (measure: () => number | undefined): Collector =>
  () => {
    const value = measure();
    return value === undefined ? [] : [{ labels: {}, value }];
  };

const gauge = (name: string, help: string): MetricDefinition => ({ name, type: "gauge", help });

const MEASURES: readonly (readonly [MetricDefinition, Collector])[] = [
  [
    { name: "process_cpu_seconds_total", type: "counter", help: "Total user and system CPU time spent in seconds." },
    measured(() => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
  ],
  [
    gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
    measured(() => processStartMs() / 1000),
  ],
  [gauge("process_resident_memory_bytes", "Resident memory size in bytes."), measured(() => process.memoryUsage.rss())],
  [
    gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."),
    measured(() => {
      const kibibytes = /^VmSize:\s+(\d+) kB$/m.exec(ownFile("status"))?.[1];
      return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
    }),
  ],
  [gauge("process_open_fds", "Number of open file descriptors."), measured(openFiles)],
  [
    gauge("process_max_fds", "Maximum number of open file descriptors."),
    measured(() => {
      const limit = /^Max open files\s+(\d+)/m.exec(ownFile("limits"))?.[1];
      return limit === undefined ? undefined : Number(limit);
    }),
  ],
  [
    gauge("nodejs_heap_size_used_bytes", "Process heap size used from Node.js in bytes."),
    measured(() => process.memoryUsage().heapUsed),
  ],
  [
    gauge("nodejs_heap_size_total_bytes", "Process heap size from Node.js in bytes."),
    measured(() => process.memoryUsage().heapTotal),
  ],
];

const fs = (): typeof import("node:fs") => process.getBuiltinModule("node:fs");

/** A file of Linux about this process; empty if it does not exist. */
function ownFile(name: string): string {
  try {
    return fs().readFileSync(`/proc/self/${name}`, "utf8");
  } catch {
    return "";
  }
}

function openFiles(): number | undefined {
  try {
    // Without the descriptor that reads the folder.
    return fs().readdirSync("/proc/self/fd").length - 1;
  } catch {
    return undefined;
  }
}
