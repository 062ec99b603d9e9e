import type {
  Counter,
  Gauge,
  Histogram,
  Labels,
  Metrics,
  MetricValue,
  OwnMetric,
} from "../../controller/metric-source.js";
import { SetpointError } from "../../errors/error.js";
import { messageOf } from "../../loop/outcome.js";
import type { MetricDefinition } from "../../queue/queue-metrics.js";

/** Seconds, from five milliseconds to a hundred: for cached reads as well as slow reconciles. */
export const LATENCY_BUCKETS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100,
];

/** Further label values of one metric are counted together under `other`, so that no label can exhaust memory. */
const MAX_SERIES = 1_000;
const OVERFLOW = "other";

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
/** Names that begin with two underscores belong to Prometheus. */
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Reads values on each scrape, for values that are kept elsewhere (queue depths, cache sizes). */
export type Collector = () => Iterable<MetricValue>;

interface Series {
  readonly labels: Labels;
  value: number;
  /** Only for histograms: observations per bucket, and in total. */
  readonly buckets?: number[];
  count: number;
}

interface Metric {
  readonly definition: MetricDefinition;
  readonly series: Map<string, Series>;
  /** For labels that are the same object on each call: found without building a key. */
  known: WeakMap<Labels, Series>;
  readonly collectors: Set<Collector>;
}

/** The metrics of one process in Prometheus format. No global state: each manager has its own. */
export class MetricRegistry implements Metrics {
  readonly #metrics = new Map<string, Metric>();

  counter(definition: OwnMetric | MetricDefinition): Counter {
    const metric = this.#metric(definition, "counter");
    return {
      add: (labels, by = 1) => void (seriesOf(metric, labels).value += by),
      remove: (labels) => removeSeries(metric, labels),
    };
  }

  gauge(definition: OwnMetric | MetricDefinition): Gauge {
    const metric = this.#metric(definition, "gauge");
    return {
      set: (labels, value) => void (seriesOf(metric, labels).value = value),
      add: (labels, by) => void (seriesOf(metric, labels).value += by),
      remove: (labels) => removeSeries(metric, labels),
    };
  }

  histogram(definition: OwnMetric | MetricDefinition): Histogram {
    const metric = this.#metric(definition, "histogram");
    const bounds = boundsOf(metric);
    return {
      observe: (labels, value) => {
        const series = seriesOf(metric, labels);
        series.value += value;
        series.count++;
        const at = bounds.findIndex((bound) => value <= bound);
        if (at >= 0) series.buckets![at]!++;
      },
      remove: (labels) => removeSeries(metric, labels),
    };
  }

  /** Adds a source of values for a counter or gauge; dispose to remove it. */
  collect(definition: MetricDefinition, collector: Collector): Disposable {
    const { collectors } = this.#metric(definition, definition.type);
    collectors.add(collector);
    return { [Symbol.dispose]: () => void collectors.delete(collector) };
  }

  /** The text format of Prometheus, version 0.0.4. */
  exposition(): string {
    const lines: string[] = [];
    for (const metric of this.#metrics.values()) {
      const { definition, series, collectors } = metric;
      const { name, type, help } = definition;
      lines.push(`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`, `# TYPE ${name} ${type}`);
      for (const each of series.values())
        lines.push(...(type === "histogram" ? histogramLines(metric, each) : [line(name, each.labels, each.value)]));
      const { values, failures } = bounded(collectors);
      for (const { labels, value } of values) lines.push(line(name, labels, value));
      for (const failure of failures) lines.push(`# ${name} could not be collected: ${failure.replaceAll("\n", " ")}`);
    }
    return `${lines.join("\n")}\n`;
  }

  #metric(given: OwnMetric, type: MetricDefinition["type"]): Metric {
    const definition: MetricDefinition = { ...given, type };
    if (!METRIC_NAME.test(definition.name))
      throw invalidName(`${JSON.stringify(definition.name)} is not a valid metric name`);
    const known = this.#metrics.get(definition.name);
    if (known && known.definition.type !== type) {
      const message = `the metric ${definition.name} is a ${known.definition.type}, and cannot be a ${type} as well`;
      throw new SetpointError("METRIC_CONFLICT", message);
    }
    const metric = known ?? { definition, series: new Map(), known: new WeakMap(), collectors: new Set() };
    this.#metrics.set(definition.name, metric);
    return metric;
  }
}

function checkLabels(labels: Labels): void {
  const bad = Object.keys(labels).find((name) => !LABEL_NAME.test(name));
  if (bad !== undefined) throw invalidName(`${JSON.stringify(bad)} is not a valid label name`);
}

function invalidName(message: string): SetpointError {
  return new SetpointError("METRIC_NAME_INVALID", message);
}

function boundsOf({ definition }: Metric): readonly number[] {
  return definition.buckets ?? LATENCY_BUCKETS;
}

/** The same for the same labels in any order. */
function idOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function seriesOf(metric: Metric, labels: Labels): Series {
  const known = metric.known.get(labels);
  if (known) return known;
  const series = foundSeries(metric, labels);
  metric.known.set(labels, series);
  return series;
}

function removeSeries(metric: Metric, labels: Labels): void {
  metric.series.delete(idOf(labels));
  metric.known = new WeakMap();
}

function foundSeries(metric: Metric, labels: Labels): Series {
  const key = idOf(labels);
  const known = metric.series.get(key);
  if (known) return known;
  checkLabels(labels);
  if (metric.series.size >= MAX_SERIES) {
    const overflow = overflowOf(labels);
    if (key !== idOf(overflow)) return foundSeries(metric, overflow);
  }
  const isHistogram = metric.definition.type === "histogram";
  const series: Series = {
    labels,
    value: 0,
    count: 0,
    ...(isHistogram ? { buckets: boundsOf(metric).map(() => 0) } : {}),
  };
  metric.series.set(key, series);
  return series;
}

/**
 * The values of all collectors of a metric: one per label set, those beyond the limit counted together. Also the error
 * of a collector that failed, which must not hide the others.
 */
function bounded(collectors: Iterable<Collector>): {
  readonly values: Iterable<MetricValue>;
  readonly failures: readonly string[];
} {
  const values = new Map<string, MetricValue>();
  const failures: string[] = [];
  for (const collector of collectors) {
    let given: readonly MetricValue[];
    try {
      given = [...collector()];
      for (const { labels } of given) checkLabels(labels);
    } catch (error) {
      failures.push(messageOf(error));
      continue;
    }
    for (const each of given) {
      const key = idOf(each.labels);
      const isOver = values.size >= MAX_SERIES && !values.has(key);
      const labels = isOver ? overflowOf(each.labels) : each.labels;
      const id = isOver ? idOf(labels) : key;
      const before = values.get(id);
      values.set(id, { labels: before?.labels ?? labels, value: (before?.value ?? 0) + each.value });
    }
  }
  return { values: values.values(), failures };
}

function overflowOf(labels: Labels): Labels {
  return Object.fromEntries(Object.keys(labels).map((name) => [name, OVERFLOW]));
}

function histogramLines(metric: Metric, { labels, value, count, buckets = [] }: Series): readonly string[] {
  const { name } = metric.definition;
  let below = 0;
  const lines = boundsOf(metric).map((bound, at) => {
    below += buckets[at] ?? 0;
    return line(`${name}_bucket`, { ...labels, le: boundText(bound) }, below);
  });
  return [
    ...lines,
    line(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    line(`${name}_sum`, labels, value),
    line(`${name}_count`, labels, count),
  ];
}

/** As Go writes it: the same bound must have the same label in every process. */
function boundText(bound: number): string {
  if (bound >= 1e-4) return String(bound);
  const [digits, exponent] = bound.toExponential().split("e-");
  return `${digits}e-${exponent!.padStart(2, "0")}`;
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
