import type { KubeObject } from "setpoint";
import type { Container, Pod } from "setpoint/kinds/v1";
import { accessDenied, resourceAccess } from "../api/access-request.js";
import type { ApiResponse } from "../api/api-request.js";
import { badRequest, notFound } from "../api/status-error.js";
import type { Authorizer } from "../api/user.js";
import type { Endpoint, ResourceCall } from "../registry/endpoint.js";
import { storageKey } from "../registry/write/write-request.js";
import { answerWebSocket, isWebSocketRequest } from "../websocket/handshake.js";
import { type CommandStreams, commandOffer } from "./command-channels.js";
import type { AskedContainer } from "./container-run.js";
import type { ExecHandler } from "./scripted-answer.js";
import { answerSpdyCommand, isSpdyRequest } from "./spdy-command.js";

export interface PodStreamOptions {
  readonly authorizer: Authorizer;
  /** Called before the pod's script and the simulation. */
  readonly exec?: ExecHandler;
}

const PODS = { group: "", resource: "pods" };

/** `kubectl exec` and `kubectl attach` for simulated pods. */
export function podStreams(options: PodStreamOptions): ReadonlyMap<string, Endpoint> {
  return new Map<string, Endpoint>([
    [
      "/pods/exec",
      (call) =>
        connect(call, options, async (asked, streams) => (await containers()).execute(asked, options.exec, streams)),
    ],
    [
      "/pods/attach",
      (call) => connect(call, options, async (asked, streams) => (await containers()).attach(asked, streams)),
    ],
    ["/pods/portforward", (call) => refusePorts(call, options)],
  ]);
}

/** Loaded on first use, because few clients connect to a simulated container. */
const containers = () => import("./container-run.js");

/** The API server's part: authorization, pod, container and protocol. The kubelet's part runs on the stream. */
function connect(
  call: ResourceCall,
  options: PodStreamOptions,
  run: (asked: AskedContainer, streams: CommandStreams) => Promise<object>,
): Promise<ApiResponse> {
  return checked(call, options, (pod) => {
    const container = containerOf(pod, call.request.query.get("container") ?? "");
    assertBound(call, pod);
    const { request, environment } = call;
    const wants = (name: string): boolean => /^(?:1|true)$/i.test(request.query.get(name) ?? "");
    const tty = wants("tty");
    const wanted = { stdin: wants("stdin"), stdout: wants("stdout"), stderr: wants("stderr") && !tty, tty };
    const runIn = (streams: CommandStreams): Promise<object> => {
      const signal = AbortSignal.any([streams.signal, request.signal]);
      return run({ call, pod, container, isTty: tty }, { ...streams, signal });
    };
    if (isSpdyRequest(request)) return answerSpdyCommand(request, wanted, environment.clock, runIn);
    if (!isWebSocketRequest(request)) throw badRequest("Upgrade request required");
    return answerWebSocket(request, commandOffer(wanted, environment.clock, runIn));
  });
}

/** Requires the verb `create`, whichever HTTP method the protocol uses. */
async function checked(
  call: ResourceCall,
  { authorizer }: PodStreamOptions,
  answer: (pod: Pod) => ApiResponse,
): Promise<ApiResponse> {
  const { definition, namespace, name, subresource, user } = call;
  const path = { ...definition, resource: "pods", subresource: subresource!.name, namespace, name };
  const access = resourceAccess(user, "create", path);
  const { allowed, reason } = authorizer.authorize(access);
  if (!allowed) throw accessDenied(access, reason);
  const stored = call.environment.storage.get("/pods", storageKey(namespace, name));
  if (stored === undefined) throw notFound(PODS, name);
  return answer(stored.object as KubeObject as Pod);
}

function refusePorts(call: ResourceCall, options: PodStreamOptions): Promise<ApiResponse> {
  return checked(call, options, (pod) => {
    assertBound(call, pod);
    throw badRequest(`pods/portforward of "${call.name}" is not available: nothing listens in a simulated pod`);
  });
}

function assertBound({ environment, name }: ResourceCall, pod: Pod): void {
  const { nodeName } = pod.spec;
  if (!nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  // kube-apiserver names a pod here as well.
  if (environment.storage.get("/nodes", nodeName) === undefined) throw notFound(PODS, nodeName);
}

function containerOf({ metadata, spec }: Pod, named: string): Container {
  const all = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])] as Container[];
  if (named !== "") {
    const found = all.find(({ name }) => name === named);
    if (!found) throw badRequest(`container ${named} is not valid for pod ${metadata.name}`);
    return found;
  }
  if (spec.containers.length === 1) return spec.containers[0]!;
  const names = all.map(({ name }) => name).join(" ");
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names}]`);
}
