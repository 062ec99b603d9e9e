import type { KubeObject } from "setpoint";
import type { Pod } from "setpoint/kinds/v1";
import type { ApiResponse } from "../../api/api-request.js";
import { badRequest } from "../../api/status-error.js";
import type { ResourceCall } from "../endpoint.js";
import { COMMON_HEADERS } from "../negotiation/answer.js";
import { readObjectOf } from "../read/read-endpoints.js";
import { WatchStream } from "../read/watch-stream.js";
import { storageKey } from "../write/write-request.js";
import { containerLog, formatLog, isLogComplete, type LogLine, type LogSelection } from "./container-log.js";

const PODS = "/pods";

/** The log of a simulated container as plain text, complete or followed. */
export async function logEndpoint(call: ResourceCall): Promise<ApiResponse> {
  const { query } = call.request;
  const { object } = await readObjectOf({ ...call, request: { ...call.request, query: new URLSearchParams() } });
  const pod = object as KubeObject as Pod;
  const container = containerOf(pod, query.get("container") ?? "");
  const isPrevious = query.get("previous") === "true";
  if (pod.spec.nodeName) assertStarted(pod, container, isPrevious);
  const headers = { ...COMMON_HEADERS, "content-type": "text/plain" };
  const selection = selectionOf(query, call.environment.clock.now());
  const lines = containerLog(pod, container, isPrevious);
  const text = Buffer.from(formatLog(lines, selection));
  if (query.get("follow") !== "true" || isPrevious || isLogComplete(pod)) return { status: 200, headers, body: text };
  return { status: 200, headers, body: followed(call, container, lines, text, selection) };
}

/** The named container, or the only one. */
function containerOf({ metadata, spec }: Pod, named: string): string {
  const containers = spec.containers.map(({ name }) => name);
  const all = [...(spec.initContainers ?? []).map(({ name }) => name), ...containers];
  if (named !== "") {
    if (all.includes(named)) return named;
    throw badRequest(`container ${named} is not valid for pod ${metadata.name}`);
  }
  const chosen = metadata.annotations?.["kubectl.kubernetes.io/default-container"];
  if (chosen !== undefined && all.includes(chosen)) return chosen;
  if (containers.length === 1 && all.length === 1) return containers[0]!;
  const choice =
    all.length > containers.length
      ? `choose one of: [${containers.join(" ")}] or one of the init containers: [${all.slice(0, all.length - containers.length).join(" ")}]`
      : `choose one of: [${containers.join(" ")}]`;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, ${choice}`);
}

function assertStarted(pod: Pod, container: string, isPrevious: boolean): void {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const status = [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
  const where = `container "${container}" in pod "${pod.metadata.name}"`;
  if (isPrevious && !status?.lastState?.terminated) {
    throw badRequest(`previous terminated ${where} not found`);
  }
  const { waiting } = status?.state ?? { waiting: { reason: "ContainerCreating" } };
  if (!waiting || status?.lastState?.terminated) return;
  const why = waiting.reason?.includes("Image") ? `trying and failing to pull image` : waiting.reason;
  throw badRequest(`${where} is waiting to start: ${why}`);
}

function selectionOf(query: URLSearchParams, nowMs: number): LogSelection {
  const since = query.get("sinceSeconds");
  const sinceTime = query.get("sinceTime");
  const tail = query.get("tailLines");
  return {
    timestamps: query.get("timestamps") === "true",
    tailLines: tail === null ? undefined : Number(tail),
    sinceMs: since !== null ? nowMs - Number(since) * 1_000 : sinceTime !== null ? Date.parse(sinceTime) : undefined,
  };
}

/** Streams new lines with each change of the pod, until it ends or is deleted. */
function followed(
  call: ResourceCall,
  container: string,
  shown: readonly LogLine[],
  text: Uint8Array,
  selection: LogSelection,
): WatchStream {
  const { environment, namespace, name, request } = call;
  const key = storageKey(namespace, name);
  const seen = new Set(shown.map(({ time, text: line }) => `${time} ${line}`));
  const stream = new WatchStream(() => {
    subscription[Symbol.dispose]();
    request.signal.removeEventListener("abort", onAbort);
  });
  const onAbort = (): void => stream.end();
  const subscription = environment.storage.subscribe(PODS, environment.storage.revision, {
    changes: (changes) => {
      for (const { type, current } of changes) {
        if (current.key !== key) continue;
        const pod = current.object as Pod;
        const fresh = containerLog(pod, container, false).filter(
          ({ time, text: line }) => !seen.has(`${time} ${line}`),
        );
        for (const { time, text: line } of fresh) seen.add(`${time} ${line}`);
        if (fresh.length > 0) stream.push(Buffer.from(formatLog(fresh, { ...selection, tailLines: undefined })));
        if (type === "deleted" || isLogComplete(pod)) stream.end();
      }
    },
    ended: () => stream.end(),
  });
  request.signal.addEventListener("abort", onAbort, { once: true });
  stream.push(text);
  return stream;
}
