import { formatTime, parseTime } from "setpoint/kinds";
import type { Container, ContainerState, ContainerStatus } from "setpoint/kinds/v1";

/** The kubelet's back-off before it restarts a container or pulls its image again. */
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 300_000;
/** A container that ran this long restarts without a back-off. */
const FORGIVEN_AFTER_MS = 600_000;

/** The script of one container. */
export interface ContainerScript {
  /** How long the container runs before it exits; undefined: until it is stopped. */
  readonly runForMs: number | undefined;
  readonly exitCode: number;
  readonly endReason: string;
  readonly readyAfterMs: number;
  readonly isRestarted: (exitCode: number) => boolean;
  /** When the image becomes available. */
  readonly pullableAtMs: number;
}

/** A container's state, and when it next changes by itself. */
export interface ContainerStep {
  readonly status: ContainerStatus;
  readonly nextMs: number | undefined;
}

export function waitingContainer({ name, image = "" }: Container, reason: string): ContainerStatus {
  return {
    name,
    image,
    imageID: "",
    ready: false,
    started: false,
    restartCount: 0,
    state: { waiting: { reason } },
    lastState: {},
  };
}

/**
 * The next state of a container: pull, run, become ready, end, back off, restart. A due step happens at once;
 * `nextMs` says when a later one is due. All state is in the status, so a restarted control plane continues where it
 * was.
 */
export function containerStep(status: ContainerStatus, script: ContainerScript, nowMs: number): ContainerStep {
  const { running, terminated, waiting } = status.state ?? {};
  if (running) return runningStep(status, running.startedAt ?? formatTime(nowMs), script, nowMs);
  if (terminated) return endedStep(status, terminated, script, nowMs);
  if (waiting?.reason === "CrashLoopBackOff") return pausedStep(status, script, nowMs);
  return pullStep(status, waiting?.reason ?? "", script, nowMs);
}

function runningStep(
  status: ContainerStatus,
  startedAt: string,
  script: ContainerScript,
  nowMs: number,
): ContainerStep {
  const startedMs = parseTime(startedAt);
  const endMs = script.runForMs === undefined ? undefined : startedMs + script.runForMs;
  if (endMs !== undefined && endMs <= nowMs) return ended(status, startedAt, script, nowMs);
  const readyMs = startedMs + script.readyAfterMs;
  const ready = readyMs <= nowMs;
  return { status: { ...status, ready }, nextMs: earlier(ready ? undefined : readyMs, endMs) };
}

function ended(status: ContainerStatus, startedAt: string, script: ContainerScript, nowMs: number): ContainerStep {
  const { exitCode, endReason: reason } = script;
  const terminated = {
    exitCode,
    reason,
    startedAt,
    finishedAt: formatTime(nowMs),
    ...(status.containerID && { containerID: status.containerID }),
  };
  const next = { ...status, ready: false, started: false, state: { terminated } };
  return endedStep(next, terminated, script, nowMs);
}

/** The first restart follows at once, later ones after a back-off. */
function endedStep(
  status: ContainerStatus,
  terminated: NonNullable<ContainerState["terminated"]>,
  script: ContainerScript,
  nowMs: number,
): ContainerStep {
  if (!script.isRestarted(terminated.exitCode)) return { status, nextMs: undefined };
  const finishedMs = parseTime(terminated.finishedAt ?? formatTime(nowMs));
  // Stay terminated for at least a second, so that watchers see the end.
  if (nowMs - finishedMs < 1_000) return { status, nextMs: finishedMs + 1_000 };
  const lastState = { terminated };
  if (pauseMs(status, terminated) === 0) return started({ ...status, lastState }, script, nowMs, true);
  const minutes = formatPause(pauseMs(status, terminated));
  const message = `back-off ${minutes} restarting failed container=${status.name}`;
  const waiting = { reason: "CrashLoopBackOff", message };
  return pausedStep({ ...status, lastState, state: { waiting } }, script, nowMs);
}

function pausedStep(status: ContainerStatus, script: ContainerScript, nowMs: number): ContainerStep {
  const last = status.lastState?.terminated;
  const endMs = last?.finishedAt ? parseTime(last.finishedAt) + pauseMs(status, last) : nowMs;
  return endMs <= nowMs ? started(status, script, nowMs, true) : { status, nextMs: endMs };
}

function pauseMs({ restartCount }: ContainerStatus, last: NonNullable<ContainerState["terminated"]>): number {
  const ranMs = last.startedAt && last.finishedAt ? parseTime(last.finishedAt) - parseTime(last.startedAt) : 0;
  if (restartCount === 0 || ranMs >= FORGIVEN_AFTER_MS) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(restartCount - 1, 16), MAX_PAUSE_MS);
}

/** How long this many failed attempts take: 10 s apart, doubling up to five minutes. */
export function triesMs(failures: number): number {
  let totalMs = 0;
  for (let tries = 0; tries < Math.min(failures, 1_000); tries++) {
    totalMs += Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 16), MAX_PAUSE_MS);
  }
  return Number.isFinite(failures) ? totalMs : Number.POSITIVE_INFINITY;
}

function pullStep(status: ContainerStatus, reason: string, script: ContainerScript, nowMs: number): ContainerStep {
  if (script.pullableAtMs <= nowMs) return started(status, script, nowMs, false);
  const isFirst = reason !== "ErrImagePull" && reason !== "ImagePullBackOff";
  const image = status.image;
  const message = isFirst
    ? `failed to pull and unpack image "${image}": not found`
    : `Back-off pulling image "${image}": ErrImagePull: failed to pull and unpack image "${image}": not found`;
  const waiting = { reason: isFirst ? "ErrImagePull" : "ImagePullBackOff", message };
  const pullableMs = Number.isFinite(script.pullableAtMs) ? script.pullableAtMs : undefined;
  const nextMs = earlier(isFirst ? nowMs + FIRST_PAUSE_MS : undefined, pullableMs);
  return { status: { ...status, state: { waiting } }, nextMs };
}

function started(status: ContainerStatus, script: ContainerScript, nowMs: number, isRestart: boolean): ContainerStep {
  const startedAt = formatTime(nowMs);
  const restartCount = status.restartCount + (isRestart ? 1 : 0);
  const next = {
    ...status,
    imageID: `simulated://${status.image}`,
    containerID: `simulated://${status.name}-${restartCount}`,
    started: true,
    restartCount,
    state: { running: { startedAt } },
  };
  return runningStep(next, startedAt, script, nowMs);
}

export function earlier(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

/** As Go writes durations: `10s`, `1m20s`, `5m0s`. */
function formatPause(durationMs: number): string {
  const seconds = durationMs / 1_000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
