import { parseDuration } from "setpoint/clock";
import type { Pod } from "setpoint/kinds/v1";
import { controllerOf } from "../owner-claims.js";

/** Prefix of the annotations that script simulated pods. Put them into a pod template. */
export const SCRIPT_PREFIX = "simulation.setpoint.dev/";

/** The failures that a script can give a pod. */
export const POD_FAILURES = [
  "crash-loop",
  "out-of-memory",
  "image-pull",
  "init-crash-loop",
  "eviction",
  "never-ready",
] as const;
export type PodFailure = (typeof POD_FAILURES)[number];

/** The script of a simulated pod. */
export interface PodScript {
  /** Time from binding until the containers run. */
  readonly startAfterMs: number;
  /** How long each init container runs. */
  readonly initForMs: number;
  /** Time from running until ready. */
  readonly readyAfterMs: number;
  /** How long containers run before they exit; undefined: until the pod is deleted. */
  readonly runForMs: number | undefined;
  readonly exitCode: number;
  /** Time from the delete until the containers have stopped, at most the grace period. */
  readonly stopAfterMs: number;
  readonly failure: PodFailure | undefined;
  /** How often the pod fails before it succeeds; infinite by default. */
  readonly failures: number;
}

const DEFAULT_RUN_MS = 1_000;

/**
 * Reads the script of a pod from its annotations: `simulation.setpoint.dev/start-after` (1s), `init-for` (0s),
 * `ready-after` (0s), `run-for` (for ever; 1s for pods of Jobs), `exit-code` (0), `stop-after` (1s), `failure` (one
 * of {@link POD_FAILURES}) and `failures` (how often). Ignores malformed annotations.
 */
export function podScript(pod: Pod): PodScript {
  const said = (name: string): string | undefined => pod.metadata.annotations?.[SCRIPT_PREFIX + name];
  const failure = POD_FAILURES.find((each) => each === said("failure"));
  const isJob = controllerOf(pod.metadata)?.kind === "Job";
  const ends = isJob || pod.spec.restartPolicy === "Never" ? DEFAULT_RUN_MS : undefined;
  const crashes = failure === "crash-loop" || failure === "out-of-memory";
  return {
    startAfterMs: durationOf(said("start-after")) ?? 1_000,
    initForMs: durationOf(said("init-for")) ?? 0,
    readyAfterMs: durationOf(said("ready-after")) ?? 0,
    runForMs:
      durationOf(said("run-for")) ?? (crashes || failure === "eviction" ? DEFAULT_RUN_MS : isJob ? ends : undefined),
    exitCode: countOf(said("exit-code")) ?? 0,
    stopAfterMs: durationOf(said("stop-after")) ?? 1_000,
    failure,
    failures: countOf(said("failures")) ?? Number.POSITIVE_INFINITY,
  };
}

function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return parseDuration(text as Parameters<typeof parseDuration>[0], "duration");
  } catch {
    return undefined;
  }
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
