import { describe, expect, it } from "vitest";
import { queueMetrics } from "../../queue/queue-metrics.js";
import { MetricRegistry } from "./metric-registry.js";

describe("metric registry", () => {
  it("prints counters, gauges and collected values with their labels escaped", () => {
    const registry = new MetricRegistry();
    const runs = registry.counter({ name: "runs_total", type: "counter", help: "Runs." });
    runs.add({ controller: 'a"b' });
    runs.add({ controller: 'a"b' }, 2);
    registry.collect({ name: "depth", type: "gauge", help: "Depth." }, () => [{ labels: {}, value: 7 }]);
    expect(registry.exposition()).toBe(
      '# HELP runs_total Runs.\n# TYPE runs_total counter\nruns_total{controller="a\\"b"} 3\n' +
        "# HELP depth Depth.\n# TYPE depth gauge\ndepth 7\n",
    );
  });

  it("counts observations in every bucket up to their value", () => {
    const registry = new MetricRegistry();
    const durations = registry.histogram({ name: "d", type: "histogram", help: "D." });
    durations.observe({}, 0.02);
    durations.observe({}, 3);
    durations.observe({}, 1000);
    const text = registry.exposition();
    expect(text).toContain('d_bucket{le="0.01"} 0\n');
    expect(text).toContain('d_bucket{le="0.025"} 1\n');
    expect(text).toContain('d_bucket{le="5"} 2\n');
    expect(text).toContain('d_bucket{le="+Inf"} 3\n');
    expect(text).toContain("d_sum 1003.02\nd_count 3\n");
  });

  it("recognises labels in any order", () => {
    const registry = new MetricRegistry();
    const runs = registry.counter({ name: "runs_total", type: "counter", help: "Runs." });
    runs.add({ a: "1", b: "2" });
    runs.add({ b: "2", a: "1" });
    const given = [
      { a: "1", b: "2" },
      { b: "2", a: "1" },
    ].map((labels) => ({ labels, value: 1 }));
    registry.collect({ name: "depth", type: "gauge", help: "Depth." }, () => given);
    const values = registry.exposition().split("\n");
    expect(values.filter((line) => !line.startsWith("#"))).toEqual([
      'runs_total{a="1",b="2"} 2',
      'depth{a="1",b="2"} 2',
      "",
    ]);
  });

  it("refuses names that would break the page for Prometheus", () => {
    const registry = new MetricRegistry();
    const invalid = expect.objectContaining({ code: "METRIC_NAME_INVALID" });
    for (const name of ["", "my-metric", "1st", "a b", "é"]) {
      expect(() => registry.gauge({ name, type: "gauge", help: "No." })).toThrow(invalid);
    }
    const runs = registry.counter({ name: "ns:runs_total", type: "counter", help: "Runs." });
    for (const label of ["my-label", "ns:label", "__name__", ""]) {
      expect(() => runs.add({ [label]: "1" })).toThrow(invalid);
    }
    registry.collect({ name: "depth", type: "gauge", help: "Depth." }, () => [{ labels: { "a-b": "1" }, value: 7 }]);
    expect(registry.exposition().split("\n").slice(2)).toEqual([
      "# HELP depth Depth.",
      "# TYPE depth gauge",
      '# depth could not be collected: "a-b" is not a valid label name',
      "",
    ]);
  });

  it("supports buckets of a histogram's own, written as Go writes them", () => {
    const registry = new MetricRegistry();
    registry.histogram(queueMetrics.queueDuration).observe({}, 0.0002);
    const bounds = registry.exposition().matchAll(/_bucket\{le="(.+)"\} (\d)/g);
    expect(Array.from(bounds, ([, bound, count]) => `${bound} ${count}`)).toEqual([
      ...["1e-08 0", "1e-07 0", "1e-06 0", "9.999999999999999e-06 0", "9.999999999999999e-05 0"],
      ...["0.001 1", "0.01 1", "0.1 1", "1 1", "10 1", "100 1", "1000 1", "+Inf 1"],
    ]);
  });

  it("limits the number of series by counting the rest together", () => {
    const registry = new MetricRegistry();
    const counter = registry.counter({ name: "c", type: "counter", help: "C." });
    for (let index = 0; index < 5_000; index++) counter.add({ key: String(index) });
    const lines = registry.exposition().split("\n");
    expect(lines.length).toBeLessThan(1_010);
    expect(lines).toContain('c{key="other"} 4000');
  });

  it("names a metric that could not be collected, and prints the others", () => {
    const registry = new MetricRegistry();
    registry.collect({ name: "broken", type: "gauge", help: "Broken." }, () => {
      throw new Error("no\nvalue");
    });
    registry.collect({ name: "depth", type: "gauge", help: "Depth." }, () => [{ labels: {}, value: 7 }]);
    expect(registry.exposition()).toContain("# broken could not be collected: no value\n");
    expect(registry.exposition()).toContain("\ndepth 7\n");
  });

  it("refuses a name that is used for another type", () => {
    const registry = new MetricRegistry();
    registry.counter({ name: "x", type: "counter", help: "" });
    expect(() => registry.gauge({ name: "x", type: "gauge", help: "" })).toThrow("cannot be a gauge");
  });
});

it("limits collected values, too, and adds up those with equal labels", () => {
  const registry = new MetricRegistry();
  const definition = { name: "open", type: "gauge", help: "Open." } as const;
  registry.collect(definition, () => Array.from({ length: 1_500 }, (_, at) => ({ labels: { id: `${at}` }, value: 1 })));
  registry.collect(definition, () => [{ labels: { id: "7" }, value: 2 }]);
  const lines = registry
    .exposition()
    .split("\n")
    .filter((line) => line.startsWith("open{"));
  expect(lines.length).toBe(1_001);
  expect(lines).toContain('open{id="other"} 500');
  expect(lines).toContain('open{id="7"} 3');
});
