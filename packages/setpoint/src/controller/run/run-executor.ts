import { isForbidden, isInvalid } from "../../client/api-error.js";
import { timeoutSignal } from "../../clock/timeout-signal.js";
import { isSetpointError, SetpointError } from "../../errors/error.js";
import type { ErrorCode } from "../../errors/registry.js";
import { acceptsCondition } from "../../kinds/condition-support.js";
import { keyOf } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import { formatTime } from "../../kinds/time.js";
import { openFence } from "../../loop/fence.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import {
  done,
  isOutcome,
  messageOf,
  type Outcome,
  outcomeProblem,
  retry,
  shown,
  terminal,
  waitFor,
} from "../../loop/outcome.js";
import type { AppliedMemory } from "../apply/applied-memory.js";
import type { RivalSearch } from "../apply/child-writer.js";
import { isEqual } from "../apply/field-paths.js";
import { type OwnWrites, onlyAt } from "../apply/own-writes.js";
import type { Cause } from "../causes/cause.js";
import type { DependencyIndex } from "../causes/dependency-index.js";
import type { KindSource } from "../causes/kind-source.js";
import type { Sources } from "../causes/object-reader.js";
import type { ReconcileContext } from "../context.js";
import type { Controller } from "../controller.js";
import type { MaskedEnvironment } from "../environment.js";
import { noMetrics } from "../metric-source.js";
import type { SecretMask } from "../secrets/secret-mask.js";
import { ReconciledCondition } from "../status/reconciled-condition.js";
import { StatusDraft } from "../status/status-draft.js";
import { type StatusWrite, StatusWriter } from "../status/status-writer.js";
import type { SpanOrigin } from "../timeline/traces.js";
import { Deadlines } from "./deadlines.js";
import { type BlockedLoop, EventLoopWatch } from "./event-loop-watch.js";
import { editFinalizers, type FinalizerEdit, hasFinalizer, isLeaving } from "./finalizer.js";
import { isHung } from "./hung.js";
import { ReconcileRun } from "./reconcile-run.js";
import { conditionsMissing, runContext, withGeneration } from "./run-context.js";

/**
 * The end of a run whose object is gone, or is being deleted without concern to this controller: there is no status to
 * write.
 */
const LEFT = "left";

/** Errors that a retry cannot fix: the declaration, or the object, has to change. */
const MISTAKES: readonly ErrorCode[] = [
  ...(["CHILD_NOT_OWNED", "CONDITIONS_MISSING", "CONTROLLER_INVALID"] as const),
  ...(["KIND_NOT_DECLARED", "SCOPE_NOT_WATCHED"] as const),
];

/** How long writing the status may take after a run, even if the run's signal is aborted. */
const STATUS_TIMEOUT_MS = 30_000;

/** RFC 3339, as in conditions. */
const TIMES = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

export interface ExecutorParts {
  readonly controller: Controller;
  readonly environment: MaskedEnvironment;
  readonly primary: KindSource;
  readonly dependencies: DependencyIndex;
  readonly ownWrites: OwnWrites;
  readonly applied: AppliedMemory;
  readonly sourcesOf: (cluster: string | undefined) => Sources;
  readonly rivalOf: RivalSearch;
  readonly onBlocked: (blocked: BlockedLoop) => void;
  /** Aborts all runs. */
  readonly signal: AbortSignal;
}

export interface RunRequest {
  readonly id: number;
  readonly key: string;
  readonly object: KubeObject;
  readonly causes: readonly Cause[];
  readonly attempt: number;
  /** Whether this is the last attempt of the retry policy. */
  readonly isLastAttempt: boolean;
  readonly state: Record<string, unknown>;
  /** The states of objects that woke this run. */
  readonly origins: readonly SpanOrigin[];
  readonly changedPaths: () => readonly string[];
  /** For controllers with refs: aborted when a ref of the object gets new work. */
  readonly cancelled?: AbortSignal | undefined;
  /** The outcome of the run, if it ends without calling the controller's code. */
  readonly ends?: Outcome | undefined;
  readonly requireRefs?: (() => void) | undefined;
}

/** How a run ended. */
export interface EndedRun {
  readonly run: ReconcileRun;
  readonly outcome: Outcome;
  /** The run was aborted from outside: ignore its outcome. */
  readonly isAborted: boolean;
  /** Settles when user code that did not end in time does; until then its key stays locked. */
  readonly hung?: Promise<unknown>;
}

/** Executes runs: finalizers, the reconciler with its deadline, and the status at the end. */
export class RunExecutor {
  readonly #parts: ExecutorParts;
  readonly #status: StatusWriter;
  readonly #reconciled = new ReconciledCondition();
  /** Whether to show success too: the kind declares conditions for it. */
  readonly #declaresConditions: boolean;
  /** Objects, by uid, whose `finalize` is done while their finalizer is still there: it is not called again. */
  readonly #finalized = new Set<string>();
  readonly #loop: EventLoopWatch;
  readonly #deadlines: Deadlines;
  /** Signals of ended runs that nobody references, for reuse: creating one costs as much as the rest of a run's set-up. */
  readonly #spareSignals: AbortController[] = [];

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    const { controller, environment, primary } = parts;
    this.#loop = new EventLoopWatch(environment.clock, (blocked) => parts.onBlocked(blocked));
    this.#deadlines = new Deadlines(environment.clock, controller.timeoutMs, parts.signal);
    const success = { type: "Reconciled", status: "True", reason: "Succeeded", observedGeneration: 1 } as const;
    this.#declaresConditions = acceptsCondition(controller.kind, success, formatTime(environment.clock.now()));
    this.#status = new StatusWriter(
      primary.cluster.client,
      controller.kind,
      environment.clock,
      controller.fieldManager,
      controller.conditions === "optional",
    );
  }

  async execute(request: RunRequest): Promise<EndedRun> {
    const { controller } = this.#parts;
    const timedOut = (): SetpointError => {
      const message = `${controller.name}: the run of ${request.key} took more than ${controller.timeoutMs / 1_000} s`;
      return new SetpointError("RECONCILE_TIMEOUT", message);
    };
    const aborting = this.#spareSignals.pop() ?? runSignal();
    this.#deadlines.begin(aborting, timedOut);
    const { cancelled } = request;
    cancelled?.addEventListener("abort", () => aborting.abort(cancelled.reason), { once: true });
    try {
      const result = await this.#execute(request, aborting.signal);
      if (result.run.isSignalFree && !aborting.signal.aborted) this.#spareSignals.push(aborting);
      return result;
    } finally {
      this.#deadlines.end(aborting);
    }
  }

  /** The object of the key is gone: forget it. */
  forget(key: string): void {
    this.#reconciled.forget(key);
  }

  [Symbol.dispose](): void {
    this.#loop[Symbol.dispose]();
    this.#deadlines[Symbol.dispose]();
  }

  async #execute(request: RunRequest, signal: AbortSignal): Promise<EndedRun> {
    const { controller, environment, dependencies } = this.#parts;
    const { clock, fence = openFence, mask } = environment;
    const { id, key, object } = request;
    const { kind, name } = controller;
    const span = environment.traces?.reconcile(name, key, { "setpoint.run": id }, request.origins);
    const run = new ReconcileRun({
      id,
      controller: name,
      kind,
      key,
      object,
      signal,
      fence,
      dependencies,
      clock,
      mask,
      span,
    });
    run.learn(kind, object);
    const draft = new StatusDraft();
    this.#loop.begin(run);
    const work = this.#work(run, request, draft).finally(() => this.#loop.end(run));
    const hung = await isHung(work, signal, clock);
    const isAborted = this.#parts.signal.aborted;
    if (hung) {
      run.end(false);
      const message = `${name}: the run of ${key} continues although its signal is aborted; pass ctx.signal to everything it awaits`;
      const error = new SetpointError("RECONCILE_HUNG", message, { cause: signal.reason });
      span?.end("hung", message);
      return { run, outcome: retry(error), isAborted, hung: work };
    }
    const ended = await work;
    const isLeft = ended === LEFT;
    let outcome = isLeft ? done() : maskedOutcome(ended, mask);
    if (request.cancelled?.aborted && outcome.type === "retry") {
      outcome = waitFor("RefsReady", { message: messageOf(request.cancelled.reason) });
    }
    run.end(outcome.type !== "retry");
    if (!isLeft && run.endedByEffect === undefined) outcome = await this.#writeStatus(run, request, draft, outcome);
    span?.end(outcome.type, "error" in outcome ? messageOf(outcome.error) : undefined);
    return { run, outcome, isAborted };
  }

  /** The run itself. Never rejects. */
  async #work(run: ReconcileRun, request: RunRequest, draft: StatusDraft): Promise<Outcome | typeof LEFT> {
    const { controller } = this.#parts;
    try {
      const { object, ends } = request;
      if (ends) return ends;
      if (object.metadata.deletionTimestamp) return await this.#finalize(run, request, draft);
      const held = controller.finalize ? await this.#hold(run, object) : object;
      if (!held) return done();
      return asOutcome(await controller.reconcile(held, this.#context(run, request, draft)));
    } catch (thrown) {
      return outcomeOf(thrown);
    }
  }

  /**
   * Adds the finalizer before the run does anything that `finalize` must undo. Undefined if the object is gone or about
   * to go.
   */
  async #hold(run: ReconcileRun, object: KubeObject): Promise<KubeObject | undefined> {
    const { controller } = this.#parts;
    return this.#editFinalizers(
      run,
      object,
      hasFinalizer(object, controller.finalizer) ? {} : { add: controller.finalizer },
    );
  }

  /** Deletion: calls `finalize`, then `deleting` for as long as others keep the object. */
  async #finalize(run: ReconcileRun, request: RunRequest, draft: StatusDraft): Promise<Outcome | typeof LEFT> {
    const { controller, primary } = this.#parts;
    const { object } = request;
    const { uid } = object.metadata;
    const deleting = async (held: KubeObject): Promise<Outcome> =>
      asOutcome(await controller.deleting?.(held, this.#context(run, request, draft)));
    if (!controller.finalize || !hasFinalizer(object, controller.finalizer)) {
      return controller.deleting ? deleting(object) : LEFT;
    }
    if (!this.#finalized.has(uid)) {
      const outcome = asOutcome(await controller.finalize(object, this.#context(run, request, draft)));
      if (outcome.type !== "done") return outcome;
      this.#finalized.add(uid);
    }
    const released = await this.#editFinalizers(run, object, { remove: controller.finalizer });
    this.#finalized.delete(uid);
    if (released && !isLeaving(released)) return deleting(released);
    await primary.observeDelete(keyOf(object), uid, run.signal);
    return LEFT;
  }

  async #editFinalizers(run: ReconcileRun, object: KubeObject, edit: FinalizerEdit): Promise<KubeObject | undefined> {
    const { controller, environment, primary, ownWrites } = this.#parts;
    const { fence = openFence } = environment;
    if (edit.add === undefined && edit.remove === undefined) return object;
    run.assertMayWrite();
    return ownWrites.during(primary.id, run.key, async () => {
      const answer = await run.write("finalizer", primary.id, run.key, (signal) =>
        editFinalizers(primary.cluster.client, controller.kind, object, edit, { signal, fence }),
      );
      if (answer && answer !== object) this.#noteFinalizers(run, object, edit, answer);
      return answer;
    });
  }

  #noteFinalizers(run: ReconcileRun, object: KubeObject, edit: FinalizerEdit, answer: KubeObject): void {
    const { primary, ownWrites } = this.#parts;
    run.writes.push({
      verb: "finalizer",
      kind: primary.id,
      key: run.key,
      paths: ["metadata.finalizers"],
      resourceVersion: answer.metadata.resourceVersion,
    });
    if (isLeaving(answer)) return; // its delete follows, not an echo
    const others = ({ metadata }: KubeObject): readonly string[] =>
      (metadata.finalizers ?? []).filter((finalizer) => finalizer !== edit.add && finalizer !== edit.remove);
    ownWrites.note(primary.id, run.key, run.key, object, answer, (before, after) => {
      return isEqual(others(before), others(after)) && onlyAt("metadata", "finalizers")(before, after);
    });
    primary.observe(answer);
  }

  /** Writes the status of the run and the runtime's conditions. If that fails, the run fails. */
  async #writeStatus(run: ReconcileRun, request: RunRequest, draft: StatusDraft, outcome: Outcome): Promise<Outcome> {
    const { environment, primary } = this.#parts;
    const { fence = openFence } = environment;
    const { object } = request;
    const { uid } = object.metadata;
    try {
      // The finalizer may have been added meanwhile: the status applies to the newest known state.
      const latest = primary.peek(object.metadata.namespace ?? "")?.get(run.key) ?? object;
      if (latest.metadata.uid !== uid) return outcome;
      if (this.#status.showsConditions) this.#reconciled.meet(run.key, object);
      const said = this.#status.showsConditions
        ? this.#reconciled.of(outcome, request, latest, this.#declaresConditions)
        : undefined;
      if (said) {
        // The reconciled generation is that of the object which the run got, even if it has changed since.
        draft.report(withGeneration(said, object), (shown) => this.#reconciled.mayReplace(run.key, shown));
        this.#reconciled.writing(run.key, said);
      }
      const written = draft.isEmpty ? undefined : await this.#writeDraft(run, latest, draft);
      if (said && written && draft.hasReport) this.#reconciled.wrote(run.key, said);
      if (!written || written.dropped.length === 0) return outcome;
      throw conditionsMissing(this.#parts.controller.kind, `the server dropped ${written.dropped.join(", ")}`);
    } catch (error) {
      const failed = environment.mask.error(error);
      if (outcome.type !== "retry" && outcome.type !== "terminal") return retry(failed);
      if (fence.lost?.aborted) return outcome;
      this.#logOf(run).warn(`could not write the status of ${run.key}: ${messageOf(failed)}`);
      // Show it now: no event wakes a terminal object. Only a refusal is permanent.
      const isRefused = isInvalid(failed) || isForbidden(failed);
      return outcome.type === "terminal" && !isRefused ? retry(outcome.error) : outcome;
    }
  }

  /** Undefined if there was nothing to write. */
  async #writeDraft(run: ReconcileRun, latest: KubeObject, draft: StatusDraft): Promise<StatusWrite | undefined> {
    const { environment, primary, ownWrites } = this.#parts;
    const { clock, fence = openFence } = environment;
    fence.check();
    using deadline = timeoutSignal(clock, STATUS_TIMEOUT_MS, fence.lost);
    // Awaited here, because the deadline ends with this function.
    return await ownWrites.during(primary.id, run.key, async () => {
      let rival: string | undefined;
      const written = await this.#status.write(latest, draft, deadline.signal, async (request, paths) => {
        // Look before the write, which takes the fields over.
        rival = await this.#parts.rivalOf(primary, run.key, paths, { key: run.key, signal: deadline.signal });
        return run.write("status", primary.id, run.key, request);
      });
      if (!written) return undefined;
      const { base, answer, paths } = written;
      const { resourceVersion } = answer.metadata;
      const status = { verb: "status", kind: primary.id, key: run.key, paths, resourceVersion } as const;
      const record = rival === undefined ? status : { ...status, rival };
      run.writes.push(record);
      // Ignore times, which change even in a repeated write.
      run.contents.set(record, JSON.stringify((answer as { status?: unknown }).status).replace(TIMES, ""));
      // If somebody else wrote in between, the response contains their change and is not an echo.
      const isOwn = base.metadata.resourceVersion === latest.metadata.resourceVersion ? onlyAt("status") : () => false;
      ownWrites.note(primary.id, run.key, run.key, latest, answer, isOwn);
      primary.observe(answer);
      return written;
    });
  }

  #logOf({ controller, key, id }: ReconcileRun): Logger {
    return (this.#parts.environment.log ?? silentLogger).with({ controller, object: key, run: id });
  }

  #context(run: ReconcileRun, request: RunRequest, draft: StatusDraft): ReconcileContext {
    const { controller, environment, applied, ownWrites, sourcesOf, rivalOf } = this.#parts;
    return runContext({
      run,
      causes: request.causes,
      attempt: request.attempt,
      finalizer: controller.finalize && controller.finalizer,
      state: request.state,
      draft,
      log: () => this.#logOf(run),
      metrics: environment.isPlan ? noMetrics : (environment.metrics ?? noMetrics),
      recorder: environment.recorder,
      changedPaths: request.changedPaths,
      requireRefs: request.requireRefs ?? (() => {}),
      isPlan: environment.isPlan ?? false,
      fieldManager: controller.fieldManager,
      applied,
      ownWrites,
      sourcesOf,
      rivalOf,
    });
  }
}

/** Conditions, events and the timeline show the texts of an outcome. */
function maskedOutcome(outcome: Outcome, mask: SecretMask): Outcome {
  if (outcome.type === "waitFor") return { ...outcome, message: mask.text(outcome.message) };
  return outcome.type === "retry" || outcome.type === "terminal"
    ? { ...outcome, error: mask.error(outcome.error) }
    : outcome;
}

function asOutcome(returned: unknown): Outcome {
  if (returned === undefined || returned === null) return done();
  if (isOutcome(returned)) return soundOutcome(returned);
  const message = `a reconciler returned ${shown(returned)}, which is not an outcome; return nothing or requeueAfter(…)`;
  return terminal(new SetpointError("OUTCOME_INVALID", message));
}

/** The outcome, unless its delay is invalid. */
function soundOutcome(outcome: Outcome): Outcome {
  const problem = outcomeProblem(outcome);
  if (problem === undefined) return outcome;
  const message = `a reconciler returned ${problem}; use for example requeueAfter("10s")`;
  return terminal(new SetpointError("OUTCOME_INVALID", message));
}

/** The outcome of a thrown error. A missing object becomes a wait: its read is tracked. */
function outcomeOf(thrown: unknown): Outcome {
  if (isOutcome(thrown)) return soundOutcome(thrown);
  if (isSetpointError(thrown, "DEPENDENCY_ABSENT")) return waitFor("DependencyAbsent", { message: thrown.message });
  if (isSetpointError(thrown, "CHILD_TERMINATING")) return waitFor("ChildTerminating", { message: thrown.message });
  return MISTAKES.some((code) => isSetpointError(thrown, code)) ? terminal(thrown) : retry(thrown);
}

/** Each request in flight listens to the signal, and a run may have any number of them. */
function runSignal(): AbortController {
  const controller = new AbortController();
  process.getBuiltinModule("node:events").setMaxListeners(0, controller.signal);
  return controller;
}
