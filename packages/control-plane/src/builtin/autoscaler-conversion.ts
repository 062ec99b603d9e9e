import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import type { Conversion } from "../kinds/resource-definition.js";

/** Annotations that keep what v1 cannot express. */
const METRICS = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior";

type Data = Readonly<Record<string, unknown>>;
interface Metric {
  readonly type?: string;
  readonly resource?: { readonly name?: string; readonly target?: Data; readonly current?: Data };
}

/** Converts autoscaling/v2, which is stored, to v1 and back. */
export const autoscalerConversion: Conversion = {
  toServed: async (objects) => objects.map(toV1),
  toStored: async (objects) => objects.map(autoscalerToV2),
};

function isCpu({ type, resource }: Metric): boolean {
  return type === "Resource" && resource?.name === "cpu";
}

function toV1(object: KubeObject): KubeObject {
  const { spec = {}, status, metadata, ...rest } = object as UntypedObject & { spec?: Data; status?: Data };
  const { metrics = [], behavior, ...kept } = spec as Data & { metrics?: readonly Metric[] };
  const cpu = metrics.find((metric) => isCpu(metric) && metric.resource?.target?.averageUtilization !== undefined);
  const others = metrics.filter((metric) => metric !== cpu);
  const annotations: Record<string, string> = { ...metadata.annotations };
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others.map(metricToV1));
  if (behavior !== undefined) annotations[BEHAVIOR] = JSON.stringify(behavior);
  const shown = status && statusToV1(status, annotations);
  return {
    ...rest,
    apiVersion: "autoscaling/v1",
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: { ...kept, ...(cpu && { targetCPUUtilizationPercentage: cpu.resource!.target!.averageUtilization }) },
    ...(shown && { status: shown }),
  } as unknown as KubeObject;
}

/** v1 spells out the target of resource metrics. Other metrics stay as they are. */
function metricToV1(metric: Metric): object {
  const { resource } = metric;
  if (resource?.target === undefined) return metric;
  const { averageUtilization, averageValue } = resource.target;
  return {
    ...metric,
    resource: {
      name: resource.name,
      ...(averageUtilization !== undefined && { targetAverageUtilization: averageUtilization }),
      ...(averageValue !== undefined && { targetAverageValue: averageValue }),
    },
  };
}

function metricToV2(metric: Metric): object {
  const { targetAverageUtilization, targetAverageValue, ...resource } = (metric.resource ?? {}) as Data;
  if (targetAverageUtilization === undefined && targetAverageValue === undefined) return metric;
  const target =
    targetAverageUtilization === undefined
      ? { type: "AverageValue", averageValue: targetAverageValue }
      : { type: "Utilization", averageUtilization: targetAverageUtilization };
  return { ...metric, resource: { ...resource, target } };
}

function statusToV1(status: Data, annotations: Record<string, string>): Data {
  const { currentMetrics, conditions, ...kept } = status as Data & {
    currentMetrics?: readonly Metric[];
    conditions?: readonly unknown[];
  };
  const cpu = currentMetrics?.find(
    (metric) => isCpu(metric) && metric.resource?.current?.averageUtilization !== undefined,
  );
  const others = currentMetrics?.filter((metric) => metric !== cpu) ?? [];
  if (others.length > 0) annotations[CURRENT_METRICS] = JSON.stringify(others);
  if (conditions && conditions.length > 0) annotations[CONDITIONS] = JSON.stringify(conditions);
  const utilization = cpu?.resource?.current?.averageUtilization;
  return {
    currentReplicas: 0,
    desiredReplicas: 0,
    ...kept,
    ...(utilization !== undefined && { currentCPUUtilizationPercentage: utilization }),
  };
}

export function autoscalerToV2(object: KubeObject): KubeObject {
  const { spec = {}, status, metadata, ...rest } = object as UntypedObject & { spec?: Data; status?: Data };
  const { targetCPUUtilizationPercentage: target, ...kept } = spec;
  const annotations: Record<string, string> = { ...metadata.annotations };
  const take = (key: string): unknown => {
    const text = annotations[key];
    delete annotations[key];
    return text === undefined ? undefined : parsed(text);
  };
  const metrics: unknown[] = ((take(METRICS) as readonly Metric[] | undefined) ?? []).map(metricToV2);
  if (target !== undefined) {
    metrics.push({
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: target } },
    });
  }
  const behavior = take(BEHAVIOR);
  const currentMetrics = take(CURRENT_METRICS) as readonly unknown[] | undefined;
  const conditions = take(CONDITIONS);
  const { annotations: _annotations, ...meta } = metadata;
  const shown = status && statusToV2(status, currentMetrics ?? [], conditions);
  return {
    ...rest,
    apiVersion: "autoscaling/v2",
    metadata: { ...meta, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: { ...kept, ...(metrics.length > 0 && { metrics }), ...(behavior !== undefined && { behavior }) },
    ...(shown && { status: shown }),
  } as unknown as KubeObject;
}

function statusToV2(status: Data, others: readonly unknown[], conditions: unknown): Data {
  const { currentCPUUtilizationPercentage: utilization, ...kept } = status;
  const cpu = {
    type: "Resource",
    resource: { name: "cpu", current: { averageUtilization: utilization, averageValue: "0" } },
  };
  const currentMetrics = utilization === undefined ? others : [...others, cpu];
  return {
    ...kept,
    ...(currentMetrics.length > 0 && { currentMetrics }),
    ...(conditions !== undefined && { conditions }),
  };
}

/** Ignore annotations that are not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
