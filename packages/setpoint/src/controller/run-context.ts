import type { Duration } from "../clock/duration.js";
import { SetpointError } from "../errors/error.js";
import type { NewCondition } from "../kinds/condition.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject, KubeObject, NewObject } from "../kinds/object.js";
import { type Action, actionOf, type Cause } from "./cause.js";
import { ChildWriter, type ChildWriterOptions } from "./child-writer.js";
import type { EffectInPlan, ObjectAccess, ReconcileContext } from "./context.js";
import type { EventRecorder } from "./event-recorder.js";
import type { Logger } from "./logger.js";
import { ObjectReader, type Sources } from "./object-reader.js";
import * as outcome from "./outcome.js";
import type { Run } from "./run.js";
import type { StatusDraft } from "./status-draft.js";

export interface RunContextOptions extends ChildWriterOptions {
  readonly run: Run;
  readonly causes: readonly Cause[];
  readonly attempt: number;
  /** Of controllers that have something to undo. */
  readonly finalizer: string | undefined;
  readonly state: Record<string, unknown>;
  readonly draft: StatusDraft;
  /** Makes the log of the run, when it is first asked for. */
  readonly log: () => Logger;
  readonly recorder: EventRecorder | undefined;
  readonly changedPaths: () => readonly string[];
  readonly isPlan: boolean;
  /** Of the manager's own cluster where no name is given. */
  readonly sourcesOf: (cluster: string | undefined) => Sources;
}

/** The context of one run, on its parts. */
export function runContext(options: RunContextOptions): ReconcileContext {
  const { run, draft } = options;
  const { object, signal } = run;
  const accessTo = (cluster: string | undefined): ObjectAccess<Kind, Kind> => {
    const sources = options.sourcesOf(cluster);
    return objectAccess(new ObjectReader(run, sources), new ChildWriter(run, sources, options));
  };
  const home = accessTo(undefined);
  let log: Logger | undefined;
  // Written out: members that follow a spread cost more than all else that a run sets up.
  return {
    get: home.get,
    find: home.find,
    list: home.list,
    byIndex: home.byIndex,
    apply: home.apply,
    create: home.create,
    patch: home.patch,
    createSubresource: home.createSubresource,
    delete: home.delete,
    prune: home.prune,
    in: accessTo,
    causes: options.causes,
    action: actionOf(options.causes, object, options.finalizer) satisfies Action,
    changedPaths: options.changedPaths,
    attempt: options.attempt,
    get signal() {
      return run.currentSignal();
    },
    get log() {
      log ??= options.log();
      return log;
    },
    state: options.state,
    status(status: unknown) {
      run.assertOpen();
      draft.merge(status);
    },
    condition(condition: Omit<NewCondition, "observedGeneration">) {
      run.assertOpen();
      draft.condition(withGeneration(condition, object));
    },
    event(type: "Normal" | "Warning", reason: string, message: string) {
      run.assertOpen();
      options.recorder?.record({ object, type, reason, message });
    },
    async effect<Result>(
      name: string,
      effect: (signal: AbortSignal) => Promise<Result> | Result,
      inPlan?: EffectInPlan<Result>,
    ): Promise<Result> {
      run.assertMayWrite();
      run.effects.push(name);
      if (!options.isPlan) return effect(signal);
      if (inPlan) return inPlan.planned;
      run.endedByEffect = name;
      throw new SetpointError("EFFECT_NOT_RUN", `${run.key}: the effect "${name}" is not run in a plan`);
    },
    done: outcome.done,
    requeueAfter: (after: Duration) => outcome.requeueAfter(after),
    waitFor: outcome.waitFor,
    retry: outcome.retry,
    terminal: outcome.terminal,
  } as ReconcileContext;
}

export function withGeneration(condition: Omit<NewCondition, "observedGeneration">, object: KubeObject): NewCondition {
  const { generation } = object.metadata;
  return { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}

/** The typed face of reads and writes; inside, kinds are known by their declarations alone. */
function objectAccess(reader: ObjectReader, writer: ChildWriter): ObjectAccess<Kind, Kind> {
  const access = {
    get: reader.get.bind(reader),
    find: reader.find.bind(reader),
    list: reader.list.bind(reader),
    byIndex: reader.byIndex.bind(reader),
    apply: (kind: Kind, desired: unknown, options?: Parameters<ChildWriter["apply"]>[2]) =>
      writer.apply(kind, desired as JsonObject, options),
    create: (kind: Kind, object: NewObject<KubeObject>) => writer.create(kind, object),
    patch: writer.patch.bind(writer),
    createSubresource: writer.createSubresource.bind(writer),
    delete: writer.delete.bind(writer),
    prune: (...kinds: readonly Kind[]) => writer.prune(kinds),
  };
  return access as unknown as ObjectAccess<Kind, Kind>;
}
