import { type Controller, controller, type Kind, requeueAfter, scoped } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { Deployment, ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import {
  HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerCondition,
  type HorizontalPodAutoscalerStatus,
  type MetricStatus,
} from "setpoint/kinds/autoscaling/v2";
import { wholeStatus } from "../status-change.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { type MetricProposal, propose } from "./metric-proposal.js";
import { remembered, type Scaling, type ScalingHistory, scaled } from "./scaling-rules.js";

const SYNC_MS = 15_000;
const NOTHING_YET: ScalingHistory = { recommendations: [], changes: [] };

type Target = Deployment | ReplicaSet | StatefulSet;
const TARGETS = [Deployment, ReplicaSet, StatefulSet] as const;

/** Scales the targets of autoscalers by metrics that annotations set: see `propose`. */
export function autoscalerController({ clock }: WorkloadEnvironment): Controller<HorizontalPodAutoscaler> {
  const histories = new Map<string, ScalingHistory>();
  return controller(HorizontalPodAutoscaler, {
    name: "horizontalpodautoscalers",
    uses: TARGETS.map((kind) => scoped(kind as Kind<Target>, { writes: ["patch"] })),
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(hpa, ctx) {
      const nowMs = clock.now();
      const { uid } = hpa.metadata;
      const conditions = new Conditions(hpa.status?.conditions ?? [], nowMs);
      const { scaleTargetRef, minReplicas = 1, maxReplicas, metrics = [] } = hpa.spec;
      const kind = TARGETS.find(
        (each) => each.kind === scaleTargetRef.kind && each.apiVersion === scaleTargetRef.apiVersion,
      ) as Kind<Target> | undefined;
      // Untracked: the autoscaler's own scaling must not requeue it at once. It runs at its period and on its own
      // changes.
      const target = kind && (await ctx.find(kind, scaleTargetRef.name, { tracked: false }));
      if (!kind || !target) {
        const what = kind ? `${kind.plural}.apps "${scaleTargetRef.name}" not found` : unknownKind(scaleTargetRef);
        ctx.event("Warning", "FailedGetScale", what);
        const message = `the HPA controller was unable to get the target's current scale: ${what}`;
        conditions.set("AbleToScale", "False", "FailedGetScale", message);
        return settle({ currentReplicas: hpa.status?.currentReplicas ?? 0, desiredReplicas: 0 });
      }
      const current = target.spec?.replicas ?? 1;
      const found = "the HPA controller was able to get the target's current scale";
      conditions.set("AbleToScale", "True", "SucceededGetScale", found);
      if (current === 0) {
        const message = "scaling is disabled since the replica count of the target is zero";
        conditions.set("ScalingActive", "False", "ScalingDisabled", message);
        return settle({ currentReplicas: 0, desiredReplicas: 0 });
      }
      if (current > maxReplicas) return rescale(maxReplicas, "Current number of replicas above Spec.MaxReplicas");
      if (current < minReplicas) return rescale(minReplicas, "Current number of replicas below Spec.MinReplicas");

      const results = metrics.map((metric) => propose(hpa, metric, current));
      const proposals = results.filter((each): each is MetricProposal => "replicas" in each);
      const missing = results.find((each) => !("replicas" in each));
      // Each metric keeps its position; a metric without a value gets an empty entry.
      const shown = results.map((each) => ("replicas" in each ? each.status : { type: "" as const }));
      if (missing && "reason" in missing) {
        ctx.event("Warning", missing.reason, missing.message);
        if (proposals.length === 0 || proposals.every(({ replicas }) => replicas < current)) {
          conditions.set("ScalingActive", "False", missing.reason, missing.message);
          const desiredReplicas = hpa.status?.desiredReplicas ?? 0;
          return settle({ currentReplicas: current, desiredReplicas, currentMetrics: shown });
        }
      }
      const highest = proposals.reduce((most, each) => (each.replicas > most.replicas ? each : most));
      const valid = `the HPA was able to successfully calculate a replica count from ${highest.name}`;
      conditions.set("ScalingActive", "True", "ValidMetricFound", valid);
      const history = histories.get(uid) ?? remembered(NOTHING_YET, current, 0, nowMs);
      const scaling = scaled(hpa, current, highest.replicas, history, nowMs);
      histories.set(uid, remembered(history, highest.replicas, scaling.replicas - current, nowMs));
      note(scaling);
      const reason = highest.replicas > current ? `${highest.name} above target` : "All metrics below target";
      return rescale(scaling.replicas, reason, shown);

      function note({ able, limit }: Scaling): void {
        conditions.set("AbleToScale", "True", able.reason, able.message);
        conditions.set("ScalingLimited", limit.isLimited ? "True" : "False", limit.reason, limit.message);
      }

      async function rescale(replicas: number, reason: string, currentMetrics: readonly MetricStatus[] = []) {
        const status = { currentReplicas: current, currentMetrics };
        if (replicas === current) return settle({ ...status, desiredReplicas: replicas });
        const { name } = target!.metadata;
        await ctx.patch(kind!, name, { type: "merge", body: { spec: { replicas } } }, { subresource: "scale" });
        const message = `the HPA controller was able to update the target scale to ${replicas}`;
        conditions.set("AbleToScale", "True", "SucceededRescale", message);
        ctx.event("Normal", "SuccessfulRescale", `New size: ${replicas}; reason: ${reason}`);
        return settle({ ...status, desiredReplicas: replicas, lastScaleTime: formatTime(nowMs) });
      }

      function settle(status: Omit<HorizontalPodAutoscalerStatus, "conditions">) {
        const { lastScaleTime } = hpa.status ?? {};
        const next = { ...(lastScaleTime && { lastScaleTime }), ...status, conditions: conditions.all };
        ctx.status(wholeStatus(hpa.status, next, ["desiredReplicas", "currentReplicas"]) as never);
        return requeueAfter(SYNC_MS);
      }
    },
  });
}

function unknownKind({ kind, apiVersion = "" }: { readonly kind: string; readonly apiVersion?: string }): string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return `no matches for kind "${kind}" in group "${group}"`;
}

/** Conditions whose lastTransitionTime moves only with their status. */
class Conditions {
  readonly #conditions: HorizontalPodAutoscalerCondition[];
  readonly #now: string;

  constructor(conditions: readonly HorizontalPodAutoscalerCondition[], nowMs: number) {
    this.#conditions = [...conditions];
    this.#now = formatTime(nowMs);
  }

  get all(): readonly HorizontalPodAutoscalerCondition[] {
    return this.#conditions;
  }

  set(type: string, status: "True" | "False", reason: string, message: string): void {
    const at = this.#conditions.findIndex((condition) => condition.type === type);
    const before = this.#conditions[at];
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : this.#now;
    const condition = { type, status, reason, message, ...(lastTransitionTime && { lastTransitionTime }) };
    if (at < 0) this.#conditions.push(condition);
    else this.#conditions[at] = condition;
  }
}
