import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import type { QueueObserver } from "../queue/queue-metrics.js";
import type { Cluster } from "./cluster.js";
import type { FailedRun } from "./controller.js";
import type { EventRecorder } from "./event-recorder.js";
import type { Fence } from "./fence.js";
import type { Logger } from "./logger.js";
import type { RunRecord, Timeline } from "./timeline.js";

/** What controllers need of the process that they run in. */
export interface ControllerEnvironment {
  readonly cluster: Cluster;
  /** Other clusters, by the names that controllers call them. */
  readonly clusters?: Readonly<Record<string, Cluster>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Logger;
  readonly recorder?: EventRecorder;
  readonly fence?: Fence;
  readonly timeline?: Timeline;
  readonly observer?: ControllerObserver;
}

/** Is told what controllers do, for metrics and traces. Must not throw. */
export interface ControllerObserver {
  queueObserver?(controller: string): QueueObserver;
  runStarted?(controller: string, key: string): void;
  runEnded?(run: RunRecord): void;
  failed?(error: unknown, run: FailedRun): void;
}
