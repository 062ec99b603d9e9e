import type { KubeObject } from "setpoint";
import { formatTime, type UntypedObject } from "setpoint/kinds";
import type { ApiResponse } from "../../api/api-request.js";
import { isObject } from "../../api/json.js";
import { badRequest, internalError, tooManyRequests } from "../../api/status-error.js";
import { readObject } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import { type DeleteOptions, parseDeleteOptions } from "../query/delete-options.js";
import { parseWriteOptions } from "../query/write-options.js";
import { readObjectOf } from "../read/read-endpoints.js";
import { selectorOf } from "../selectors/object-label-selector.js";
import { remove } from "../write/delete.js";
import { update } from "../write/update.js";
import { deleteWrite, writeRequestOf } from "../write/write-endpoints.js";
import { created } from "./success.js";

const BUDGETS = "policy/poddisruptionbudgets";

interface Budget extends UntypedObject {
  readonly spec?: { readonly selector?: Selector; readonly unhealthyPodEvictionPolicy?: string };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly desiredHealthy?: number;
    readonly currentHealthy?: number;
    readonly observedGeneration?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
  };
}

interface PodReadiness {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/** Deletes a pod unless its disruption budget forbids it. */
export async function evictionEndpoint(call: ResourceCall): Promise<ApiResponse> {
  const { request, environment, name } = call;
  const options = parseWriteOptions(request.query, "CreateOptions");
  const expected = { apiVersion: "policy/v1", kind: "Eviction", isBuiltIn: true };
  const { object } = readObject(request, environment.facts, expected);
  const given = isObject(object.metadata) ? object.metadata.name : undefined;
  if (given && given !== name) throw badRequest("name in URL does not match name in Eviction object");
  const { object: pod } = await readObjectOf({
    ...call,
    request: { ...request, query: new URLSearchParams() },
  });
  const asked = parseDeleteOptions(object.deleteOptions ?? {}, new URLSearchParams());
  const isDryRun = asked.isDryRun || options.isDryRun;
  if (needsBudget(pod)) await takeFromBudget(call, pod, isDryRun);
  const deletion = isDryRun ? { ...asked, isDryRun } : await marked(call, pod, asked);
  await remove(environment, deleteWrite(call, deletion), { name, options: deletion });
  return created(call);
}

/** Adds the eviction's condition to the pod status. Returns delete options whose preconditions match the marked pod. */
async function marked(call: ResourceCall, pod: KubeObject, deletion: DeleteOptions): Promise<DeleteOptions> {
  const { environment, name } = call;
  const { preconditions = {} } = deletion;
  const { uid = pod.metadata.uid, resourceVersion = pod.metadata.resourceVersion } = preconditions;
  // The delete reports the failed precondition.
  if (uid !== pod.metadata.uid || resourceVersion !== pod.metadata.resourceVersion) return deletion;
  const options = { isDryRun: false, fieldValidation: "Ignore", fieldManager: "", force: false } as const;
  const write = writeRequestOf({ ...call, subresource: undefined }, "UpdateOptions", options);
  const now = formatTime(environment.clock.now());
  const { object: written } = await update(
    environment,
    { ...write, subresource: "status" },
    { name, expectedUid: uid, skipsAdmission: true, transform: (current) => withTarget(current as MarkedPod, now) },
  );
  if (preconditions.resourceVersion === undefined) return deletion;
  const { resourceVersion: current } = written.object.metadata;
  return { ...deletion, preconditions: { ...preconditions, ...(current && { resourceVersion: current }) } };
}

type MarkedPod = KubeObject & { readonly status?: PodReadiness };

function withTarget(pod: MarkedPod, now: string): KubeObject {
  const target = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== target.type);
  return { ...pod, status: { ...pod.status, conditions: [...others, target] } } as KubeObject;
}

/** A pod that does not run, or is already being deleted, needs no budget. */
function needsBudget(pod: KubeObject): boolean {
  const { status } = pod as KubeObject & { readonly status?: { readonly phase?: string } };
  const phase = status?.phase;
  return (
    phase !== "Succeeded" && phase !== "Failed" && phase !== "Pending" && pod.metadata.deletionTimestamp === undefined
  );
}

async function takeFromBudget(call: ResourceCall, pod: KubeObject, isDryRun: boolean): Promise<void> {
  const { environment, namespace } = call;
  const snapshot = environment.storage.snapshot(BUDGETS)!;
  const budgets = [...snapshot.entries({ namespace })].filter(({ object }) => covers(object as Budget, pod));
  if (budgets.length === 0) return;
  if (budgets.length > 1) {
    const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw internalError(why);
  }
  const budget = budgets[0]!.object as Budget;
  if (isFree(budget, pod)) return;
  const definition = environment.catalog.stored(BUDGETS)!;
  const options = { isDryRun, fieldValidation: "Ignore", fieldManager: "", force: false } as const;
  const write = {
    ...writeRequestOf({ ...call, definition, subresource: undefined }, "UpdateOptions", options),
    subresource: "status",
  };
  const nowMs = environment.clock.now();
  await update(environment, write, {
    name: budget.metadata.name,
    skipsAdmission: true,
    transform: (current) => charged(current as Budget, pod, formatTime(nowMs)),
  });
}

/** An unready pod needs no budget as long as enough other pods are healthy, or if the budget always allows it. */
function isFree({ spec, status = {} }: Budget, pod: KubeObject): boolean {
  const { conditions = [] } = (pod as KubeObject & { readonly status?: PodReadiness }).status ?? {};
  if (conditions.some(({ type, status: state }) => type === "Ready" && state === "True")) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" || (currentHealthy >= desiredHealthy && desiredHealthy > 0);
}

function charged(budget: Budget, pod: KubeObject, now: string): KubeObject {
  const { status = {}, metadata } = budget;
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0, observedGeneration = 0 } = status;
  if (observedGeneration < (metadata.generation ?? 0)) {
    throw violation(10, `The disruption budget ${metadata.name} is still being processed by the server.`);
  }
  if (disruptionsAllowed <= 0) {
    const why = `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw violation(0, why);
  }
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: disruptionsAllowed - 1,
      disruptedPods: { ...status.disruptedPods, [pod.metadata.name]: now },
    },
  } as KubeObject;
}

function violation(retryAfterSeconds: number, message: string): Error {
  const text = "Cannot evict pod as it would violate the pod's disruption budget.";
  return tooManyRequests(text, retryAfterSeconds, [{ reason: "DisruptionBudget", message }]);
}

function covers({ spec }: Budget, pod: KubeObject): boolean {
  return spec?.selector !== undefined && selectorOf(spec.selector)(pod.metadata.labels);
}
