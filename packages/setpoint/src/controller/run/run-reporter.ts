import type { KubeObject } from "../../kinds/object.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { messageOf, type Outcome } from "../../loop/outcome.js";
import type { WorkItem } from "../../queue/key-queue.js";
import { actionOf, type Cause } from "../causes/cause.js";
import type { Controller, FailedRun } from "../controller.js";
import type { ControllerEnvironment } from "../environment.js";
import { FAILURES_SHOWN } from "../status/reconciled-condition.js";
import { type RunRecord, Timeline } from "../timeline/timeline.js";
import type { BlockedLoop } from "./event-loop-watch.js";
import type { HotLoop } from "./hot-loop.js";

type Item = WorkItem<readonly Cause[]>;

/** Reports the runs of one controller: timeline, log, events, metrics and the controller's error handler. */
export class RunReporter {
  readonly log: Logger;
  readonly #controller: Controller;
  readonly #environment: ControllerEnvironment;
  readonly #timeline: Timeline;

  constructor(controller: Controller, environment: ControllerEnvironment) {
    this.#controller = controller;
    this.#environment = environment;
    this.#timeline = environment.timeline ?? new Timeline();
    this.log = (environment.log ?? silentLogger).with({ controller: controller.name });
  }

  nextId(): number {
    return this.#timeline.nextId();
  }

  started({ key, cause }: Item, object: KubeObject): void {
    this.#environment.observer?.runStarted?.({
      controller: this.#controller,
      key,
      action: this.#action(cause, object),
    });
  }

  ended(
    item: Item,
    object: KubeObject,
    kind: string,
    startedMs: number,
    run: Partial<RunRecord> & Pick<RunRecord, "outcome">,
  ): void {
    const { clock, observer } = this.#environment;
    const durationMs = clock.monotonic() - startedMs;
    const record: RunRecord = {
      id: run.id ?? this.#timeline.nextId(),
      controller: this.#controller.name,
      kind,
      key: item.key,
      uid: object.metadata.uid,
      causes: item.cause,
      action: this.#action(item.cause, object),
      startedAt: new Date(clock.now() - durationMs).toISOString(),
      waitedMs: Math.max(0, item.startedMs - item.readySinceMs),
      durationMs,
      attempt: run.attempt ?? 0,
      reads: run.reads ?? [],
      writes: run.writes ?? [],
      effects: run.effects ?? [],
      outcome: run.outcome,
      ...(run.reason === undefined ? {} : { reason: run.reason }),
      ...(run.parked ? { parked: true } : {}),
    };
    this.#timeline.add(record);
    observer?.runEnded?.(record);
  }

  failed(error: unknown, object: KubeObject, run: number, failed: FailedRun, isTerminal = false): void {
    const { key, attempt, parked } = failed;
    this.log.error(`reconcile of ${key} failed: ${messageOf(error)}`, { object: key, run, attempt, parked, error });
    this.handle(error, failed);
    if (isTerminal) {
      this.#environment.recorder?.record({
        object,
        type: "Warning",
        reason: "TerminalError",
        message: messageOf(error),
      });
      return;
    }
    if (!parked && attempt + 1 === FAILURES_SHOWN) {
      const text = `${FAILURES_SHOWN} runs in a row failed; retrying with back-off: ${messageOf(error)}`;
      this.#environment.recorder?.record({ object, type: "Warning", reason: "ReconcileFailed", message: text });
    }
    if (!parked) return;
    const pause = this.#controller.backoff.max / 1_000;
    const message = `${attempt + 1} attempts failed; the next ones are ${pause} s apart: ${messageOf(error)}`;
    this.#environment.recorder?.record({ object, type: "Warning", reason: "RetriesExhausted", message });
  }

  /** Calls the controller's error handler and updates the metrics. */
  handle(error: unknown, failed: FailedRun): void {
    try {
      this.#controller.onError?.(error, failed);
    } catch (thrown) {
      // What follows a failure (parking or locking the key) must still happen.
      this.log.error(`an error handler failed: ${messageOf(thrown)}`, { object: failed.key, error: thrown });
    }
    this.#environment.observer?.failed?.(error, failed);
  }

  loops(key: string, object: KubeObject, { write, count, delayMs }: HotLoop): void {
    const { rival } = write;
    const controller = rival && this.#environment.controllerOf?.(rival);
    const writer = controller ? `controller ${controller} of this process` : rival && `the field manager ${rival}`;
    const fields = write.paths.join(", ") || "unknown fields";
    const message =
      `${key} wrote ${fields} of ${write.kind} ${write.key} ${count} times within a minute, although its input did not ` +
      `change; ${writer ? `${writer} writes it too` : "no other writer is known: does the reconciler compute the same object each time?"}`;
    const reported = "the controller now delays it, longer each time, up to a minute, and does not report it again";
    this.log.warn(`hot loop: ${message}; ${reported}`, { object: key, fields: write.paths, rival, delayMs });
    this.#environment.recorder?.record({ object, type: "Warning", reason: "HotLoop", message });
  }

  blocked({ blockedMs, key, others }: BlockedLoop): void {
    const seconds = (blockedMs / 1_000).toFixed(1);
    const message = `${key} blocked the event loop for ${seconds} s: nothing else in this thread ran meanwhile`;
    this.log.warn(message, { object: key, blockedMs, others });
  }

  #action(causes: readonly Cause[], object: KubeObject): RunRecord["action"] {
    return actionOf(causes, object, this.#controller.finalize && this.#controller.finalizer);
  }
}

/** Why an outcome is not done, as text. */
export function reasonOf(outcome: Outcome): string | undefined {
  if (outcome.type === "waitFor") return outcome.message ? `${outcome.reason}: ${outcome.message}` : outcome.reason;
  return outcome.type === "retry" || outcome.type === "terminal" ? messageOf(outcome.error) : undefined;
}
