import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import type { Fence } from "../loop/fence.js";
import type { Logger } from "../loop/logger.js";
import type { QueueObserver } from "../queue/queue-metrics.js";
import type { Action } from "./causes/cause.js";
import type { Cluster } from "./cluster.js";
import type { Controller, FailedRun } from "./controller.js";
import type { EventRecorder } from "./event-recorder.js";
import type { Metrics } from "./metric-source.js";
import { SecretMask } from "./secrets/secret-mask.js";
import type { RunRecord, Timeline } from "./timeline/timeline.js";
import type { Traces } from "./timeline/traces.js";
import type { WatchStep } from "./watcher.js";

/** What controllers need from their process. */
export interface ControllerEnvironment {
  readonly cluster: Cluster;
  /** Other clusters, by the names that controllers use. */
  readonly clusters?: Readonly<Record<string, Cluster>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Logger;
  readonly recorder?: EventRecorder;
  readonly fence?: Fence;
  readonly timeline?: Timeline;
  readonly observer?: ControllerObserver;
  /** Where loops record metrics. Defaults to nowhere. */
  readonly metrics?: Metrics;
  /** Spans of runs and writes, if tracing is on. */
  readonly traces?: Traces;
  /** Shared by all loops that may see the same Secrets. */
  readonly mask?: SecretMask;
  /** The name of the controller of this process that writes as this field manager. */
  readonly controllerOf?: (fieldManager: string) => string | undefined;
  /** In a plan, runs only say what they would do: effects do not run. The clients of its clusters must be dry-run clients. */
  readonly isPlan?: boolean;
}

/** An environment that masks everything that people may see. */
export type MaskedEnvironment = ControllerEnvironment & { readonly mask: SecretMask };

export function masked(environment: ControllerEnvironment): MaskedEnvironment {
  const { mask = new SecretMask(), log, recorder } = environment;
  return {
    ...environment,
    mask,
    ...(log ? { log: mask.logger(log) } : {}),
    ...(recorder
      ? { recorder: { record: (event) => recorder.record({ ...event, message: mask.text(event.message) }) } }
      : {}),
  };
}

/** A run or step that starts. */
export interface StartedRun {
  readonly controller: Controller;
  readonly key: string;
  readonly action: Action;
}

/** A step of a watcher that has ended. */
export interface EndedStep {
  readonly watcher: string;
  readonly kind: string;
  readonly type: WatchStep["type"];
  readonly durationMs: number;
  readonly isFailed: boolean;
}

/** Observes controllers, for metrics and traces. Must not throw. */
export interface ControllerObserver {
  queueObserver?(controller: string): QueueObserver;
  runStarted?(run: StartedRun): void;
  runEnded?(run: RunRecord): void;
  stepEnded?(step: EndedStep): void;
  failed?(error: unknown, run: FailedRun): void;
}
