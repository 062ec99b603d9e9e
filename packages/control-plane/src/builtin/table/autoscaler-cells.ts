import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import { autoscalerToV2 } from "../autoscaler-conversion.js";
import { type Cells, firstOf, list, NONE, record, text } from "./cell-values.js";

type Data = Readonly<Record<string, unknown>>;

const SHOWN_METRICS = 2;
const UNKNOWN = "<unknown>";

/** The field of a metric and of its status that holds the target and the current value, by metric type. */
const SOURCES: Readonly<Record<string, string>> = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource",
};

export function autoscalerCells(object: UntypedObject): Cells {
  const isOld = object.apiVersion === "autoscaling/v1";
  const { spec, status } = (isOld ? autoscalerToV2(object as KubeObject) : object) as UntypedObject;
  const { scaleTargetRef, metrics, minReplicas, maxReplicas } = record(spec);
  const { currentMetrics, currentReplicas } = record(status);
  const target = record(scaleTargetRef);
  return {
    Reference: `${text(target.kind)}/${text(target.name)}`,
    Targets: targetsText(list(metrics).map(record), list(currentMetrics).map(record)),
    MinPods: minReplicas === undefined ? "<unset>" : text(minReplicas),
    MaxPods: maxReplicas ?? 0,
    Replicas: currentReplicas ?? 0,
  };
}

function targetsText(metrics: readonly Data[], statuses: readonly Data[]): string {
  if (metrics.length === 0) return NONE;
  const texts = metrics.map((metric, index) => metricText(metric, statuses[index]));
  return firstOf(texts, SHOWN_METRICS, ", ");
}

/** `cpu: 30%/50%`: the current and the target value. */
function metricText(metric: Data, status: Data | undefined): string {
  const type = text(metric.type);
  const source = SOURCES[type];
  if (source === undefined) return "<unknown type>";
  const { name, target } = record(metric[source]);
  const { value, averageValue, averageUtilization } = record(target);
  const measured = status?.[source];
  const current = record(record(measured).current);
  // Go prints a missing quantity like this.
  const shown = (given: unknown): string => (measured === undefined ? UNKNOWN : text(given ?? "<nil>"));
  if (type === "Pods") return `${shown(current.averageValue)}/${text(averageValue)}`;
  if (type === "Resource" || type === "ContainerResource") {
    if (averageValue !== undefined) return `${text(name)}: ${shown(current.averageValue)}/${text(averageValue)}`;
    const wanted = averageUtilization === undefined ? "<auto>" : `${text(averageUtilization)}%`;
    const is = current.averageUtilization === undefined ? UNKNOWN : `${text(current.averageUtilization)}%`;
    return `${text(name)}: ${is}/${wanted}`;
  }
  return averageValue === undefined
    ? `${shown(current.value)}/${text(value)}`
    : `${text(current.averageValue ?? UNKNOWN)}/${text(averageValue)} (avg)`;
}
