import type { LabelSelector } from "setpoint/kinds";
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from "setpoint/kinds/autoscaling/v2";
import { quantityToNumber } from "setpoint/quantity";
import { canonicalQuantity } from "../../schema/quantity.js";
import { SCRIPT_PREFIX } from "../pod/pod-script.js";

/** A metric within this fraction of its target asks for no change. */
const TOLERANCE = 0.1;

export interface MetricProposal {
  /** As events name it: `cpu resource utilization (percentage of request)`. */
  readonly name: string;
  readonly replicas: number;
  readonly status: MetricStatus;
}

/** A metric without an annotation that sets it. */
export interface MissingMetric {
  readonly reason: string;
  readonly message: string;
}

/**
 * The replicas that a metric asks for. Its current value comes from the autoscaler's annotation
 * `simulation.setpoint.dev/metric.NAME`: a percentage for a utilization target, otherwise a quantity.
 */
export function propose(
  hpa: HorizontalPodAutoscaler,
  metric: MetricSpec,
  replicas: number,
): MetricProposal | MissingMetric {
  const { type } = metric;
  const { target, identity, name } = partsOf(metric);
  const text = hpa.metadata.annotations?.[`${SCRIPT_PREFIX}metric.${name}`];
  if (text === undefined || !/^\d/.test(text)) {
    const message = `the HPA was unable to compute the replica count: no value is set for the metric ${name}`;
    return { reason: `FailedGet${type}Metric`, message };
  }
  const { averageUtilization, averageValue, value } = target;
  const isUtilization = averageUtilization !== undefined;
  const isTotal = value !== undefined && !isUtilization && averageValue === undefined;
  const current = isUtilization ? Number.parseInt(text, 10) : quantityToNumber(text);
  const wanted = isUtilization ? averageUtilization : quantityToNumber(averageValue ?? value ?? "1");
  // An External or Object metric with an averageValue is a total over all pods. The others are averages already.
  const isShared = averageValue !== undefined && (type === "External" || type === "Object");
  const ratio = isShared ? current / (wanted * Math.max(1, replicas)) : current / wanted;
  const isNear = Math.abs(ratio - 1) <= TOLERANCE + Number.EPSILON * 10;
  const average = isShared ? `${Math.ceil((current * 1_000) / Math.max(1, replicas))}m` : text;
  const shown = isUtilization
    ? { averageUtilization: current, averageValue: "0" }
    : isTotal
      ? { value: canonicalQuantity(text) }
      : { averageValue: canonicalQuantity(average) };
  return {
    name: describe(metric, name, isUtilization),
    replicas: isNear ? replicas : Math.ceil(ratio * replicas - 1e-9),
    status: { type, [keyOf(type)]: { ...identity, current: shown } } as unknown as MetricStatus,
  };
}

type Target = NonNullable<MetricSpec["resource"]>["target"];

function partsOf(metric: MetricSpec): { readonly target: Target; readonly identity: object; readonly name: string } {
  const { resource, containerResource, pods, object, external } = metric;
  if (resource) return { target: resource.target, identity: { name: resource.name }, name: resource.name };
  if (containerResource) {
    const { name, container, target } = containerResource;
    return { target, identity: { name, container }, name };
  }
  const named = pods ?? object ?? external;
  if (!named) return { target: { type: "Value" }, identity: {}, name: "" };
  const described = object ? { describedObject: object.describedObject } : {};
  return { target: named.target, identity: { metric: named.metric, ...described }, name: named.metric.name };
}

function keyOf(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}

function describe({ type, object, external }: MetricSpec, name: string, isUtilization: boolean): string {
  const share = isUtilization ? " utilization (percentage of request)" : "";
  if (type === "Resource") return `${name} resource${share}`;
  if (type === "ContainerResource") return `${name} container resource${share}`;
  if (type === "Object") return `${object?.describedObject.kind} metric ${name}`;
  return type === "External"
    ? `external metric ${name}(${selectorText(external?.metric.selector)})`
    : `pods metric ${name}`;
}

/** A selector as Go prints it. */
function selectorText(selector: LabelSelector | undefined): string {
  if (!selector) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],}`,
  );
  const shown = labels.map(([key, value]) => `${key}: ${value},`).join("");
  return `&LabelSelector{MatchLabels:map[string]string{${shown}},MatchExpressions:[]LabelSelectorRequirement{${expressions.map((each) => `${each},`).join("")}},}`;
}
