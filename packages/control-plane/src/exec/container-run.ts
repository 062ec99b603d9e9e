import type { Container, Node, Pod } from "setpoint/kinds/v1";
import type { ResourceCall } from "../registry/endpoint.js";
import { containerLog, formatLog } from "../registry/subresources/container-log.js";
import { storageKey } from "../registry/write/write-request.js";
import { isLost } from "../workloads/node/node-state.js";
import type { CommandStreams } from "./command-channels.js";
import { exitStatus, failedStatus } from "./command-status.js";
import { environmentOf } from "./container-environment.js";
import { ContainerFiles } from "./container-files.js";
import { ContainerValues } from "./container-values.js";
import { type ExecHandler, type ExecResult, scriptedAnswer } from "./scripted-answer.js";
import { SimulatedContainer } from "./simulated-container.js";

/** The container that a client connects to. */
export interface AskedContainer {
  readonly call: ResourceCall;
  readonly pod: Pod;
  readonly container: Container;
  readonly isTty: boolean;
}

/** A shell's exit code for an interrupted command. */
const INTERRUPTED = 130;

/** Runs a command in a simulated container. Returns the resulting Status. */
export async function execute(
  asked: AskedContainer,
  handler: ExecHandler | undefined,
  streams: CommandStreams,
): Promise<object> {
  const { call, pod, container, isTty } = asked;
  const problem = unreachable(asked);
  if (problem !== undefined) return failedStatus(problem);
  const command = call.request.query.getAll("command");
  let given: ExecResult | undefined;
  try {
    given = (await handler?.({ pod, container: container.name, command })) ?? scriptedAnswer(pod, command);
  } catch (error) {
    return failedStatus(
      `error executing command in container: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (given !== undefined) {
    if (given.stdout) await streams.stdout(given.stdout);
    if (given.stderr) await streams.stderr(given.stderr);
    return exitStatus(given.exitCode ?? 0, command);
  }
  const { storage, clock } = call.environment;
  const values = new ContainerValues(storage, pod);
  const machine = {
    environment: environmentOf(pod, container, values),
    files: new ContainerFiles(pod, container, values),
    clock,
    isTty,
  };
  try {
    const exitCode = await new SimulatedContainer(machine, streams).run(command);
    return exitCode === undefined ? failedStatus(noSuchProgram(command)) : exitStatus(exitCode, command);
  } catch (error) {
    if (streams.signal.aborted) return exitStatus(INTERRUPTED, command);
    throw error;
  }
}

function noSuchProgram([name = ""]: readonly string[]): string {
  const why = `exec: ${JSON.stringify(name)}: executable file not found in $PATH: unknown`;
  return `error executing command in container: OCI runtime exec failed: exec failed: unable to start container process: ${why}`;
}

const ALL_LINES = { timestamps: false, tailLines: undefined, sinceMs: undefined };

/** Streams a container's output from now on, until it ends. */
export async function attach(asked: AskedContainer, streams: CommandStreams): Promise<object> {
  const { call, pod, container } = asked;
  const problem = unreachable(asked);
  if (problem !== undefined) return failedStatus(problem);
  const { storage } = call.environment;
  const key = storageKey(call.namespace, call.name);
  const seen = new Set(containerLog(pod, container.name, false).map(({ time, text }) => time + text));
  await new Promise<void>((resolve) => {
    const subscription = storage.subscribe("/pods", storage.revision, {
      changes: (changes) => {
        for (const { type, current } of changes) {
          if (current.key !== key) continue;
          const now = current.object as Pod;
          const fresh = containerLog(now, container.name, false).filter(({ time, text }) => !seen.has(time + text));
          for (const { time, text } of fresh) seen.add(time + text);
          if (fresh.length > 0) void streams.stdout(formatLog(fresh, ALL_LINES));
          if (type === "deleted" || !isRunning(now, container.name)) over();
        }
      },
      ended: () => over(),
    });
    const over = (): void => {
      subscription[Symbol.dispose]();
      resolve();
    };
    streams.signal.addEventListener("abort", over, { once: true });
  });
  return exitStatus(0, []);
}

/** Why the kubelet cannot serve: its node is lost, or the container does not run. */
function unreachable({ call, pod, container }: AskedContainer): string | undefined {
  const node = call.environment.storage.get("/nodes", pod.spec.nodeName!)?.object as Node | undefined;
  if (node && isLost(node)) {
    const address = node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? pod.spec.nodeName;
    return `error dialing backend: dial tcp ${address}:10250: i/o timeout`;
  }
  if (isRunning(pod, container.name)) return undefined;
  return `unable to upgrade connection: container not found (${JSON.stringify(container.name)})`;
}

function isRunning({ status }: Pod, container: string): boolean {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return all.some(({ name, state }) => name === container && state?.running !== undefined);
}
