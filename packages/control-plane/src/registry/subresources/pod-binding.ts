import type { KubeObject } from "setpoint";
import { formatTime, type UntypedObject } from "setpoint/kinds";
import type { ApiResponse } from "../../api/api-request.js";
import { fieldErrors } from "../../api/error-budget.js";
import { notSupported, required } from "../../api/field-error.js";
import { isObject, type JsonObject } from "../../api/json.js";
import { aggregate, badRequest, conflict, type FieldError, unexpected } from "../../api/status-error.js";
import { readObject } from "../body/request-document.js";
import type { ResourceCall } from "../endpoint.js";
import { parseWriteOptions } from "../query/write-options.js";
import { update } from "../write/update.js";
import { writeRequestOf } from "../write/write-endpoints.js";
import { created } from "./success.js";

/** Binds a pod to a node: `POST pods/x/binding`, or `POST bindings` with the pod's name in the body. */
export async function bindingEndpoint(call: ResourceCall): Promise<ApiResponse> {
  const { request, environment } = call;
  const options = parseWriteOptions(request.query, "CreateOptions");
  const { object } = readObject(request, environment.facts, { apiVersion: "v1", kind: "Binding", isBuiltIn: true });
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const named = String(metadata.name ?? "");
  if (call.name !== "" && named !== "" && named !== call.name) {
    throw badRequest("name in URL does not match name in Binding object");
  }
  const name = call.name === "" ? named : call.name;
  const node = targetOf(object);
  const { uid, resourceVersion } = metadata;
  const definition = environment.catalog.find("", "v1", "pods")!;
  const write = { ...writeRequestOf({ ...call, definition }, "CreateOptions", options), subresource: "binding" };
  await update(environment, write, {
    name,
    ...(typeof uid === "string" && uid !== "" && { expectedUid: uid }),
    transform: (pod) => {
      const now = formatTime(environment.clock.now());
      const placed = withTexts(bound(pod as UntypedObject, node, now), metadata);
      return resourceVersion ? withVersion(placed, String(resourceVersion)) : placed;
    },
  });
  return created(call);
}

/** Copies annotations and labels of the binding to the pod. */
function withTexts(pod: KubeObject, { annotations, labels }: JsonObject): KubeObject {
  const metadata = {
    ...pod.metadata,
    ...(isObject(annotations) && { annotations: { ...pod.metadata.annotations, ...annotations } }),
    ...(isObject(labels) && { labels: { ...pod.metadata.labels, ...labels } }),
  };
  return { ...pod, metadata } as KubeObject;
}

/** Binds the pod only at this resourceVersion. */
function withVersion(pod: KubeObject, resourceVersion: string): KubeObject {
  return { ...pod, metadata: { ...pod.metadata, resourceVersion } };
}

function targetOf({ target }: JsonObject): string {
  const { kind = "", name = "" } = isObject(target) ? target : {};
  const errors: FieldError[] = fieldErrors();
  if (kind !== "" && kind !== "Node") errors.push(notSupported("target.kind", kind, ["Node", "<empty>"]));
  if (name === "") errors.push(required("target.name"));
  if (errors.length > 0) throw unexpected(aggregate(errors));
  return String(name);
}

interface PodStatus {
  readonly conditions?: readonly { readonly type: string }[];
  readonly nominatedNodeName?: string;
}

function bound(pod: UntypedObject, node: string, now: string): KubeObject {
  const { name, deletionTimestamp } = pod.metadata;
  const spec = pod.spec as { readonly nodeName?: string; readonly schedulingGates?: readonly unknown[] };
  const refuse = (why: string) => conflict({ group: "", resource: "pods/binding" }, name, why);
  if (deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  if ((spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const { nominatedNodeName: _nominated, ...status } = (pod.status ?? {}) as PodStatus;
  const others = (status.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  return {
    ...pod,
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions: [...others, scheduled] },
  } as KubeObject;
}
