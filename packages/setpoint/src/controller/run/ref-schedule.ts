import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import { emptyState } from "../../graph/draft.js";
import { explain } from "../../graph/explain.js";
import { reduce } from "../../graph/reduce.js";
import { type Key, type ResourceName, resourceKey, sortedRefs } from "../../graph/resource.js";
import type { Edit, Effect, Event, Run, State } from "../../graph/state.js";
import type { KubeObject } from "../../kinds/object.js";
import { messageOf, type Outcome, terminal, waitFor } from "../../loop/outcome.js";
import { type Cause, mergeControllerCauses } from "../causes/cause.js";
import { type Controller, keyProblem } from "../controller.js";

export interface RefScheduleOptions {
  readonly controller: Controller;
  readonly clock: Clock;
  readonly objectOf: (key: string) => KubeObject | undefined;
  /** Puts a key into the queue when it may run. */
  readonly enqueue: (key: string, causes: readonly Cause[]) => void;
}

/** Whether a key from the queue may run now. */
export type Admission =
  /**
   * `cancelled` is aborted when a ref gets new work. With `ends`, the run ends with that outcome and its code is not
   * called. `returned` must follow.
   */
  | { readonly type: "run"; readonly cancelled?: AbortSignal; readonly ends?: Outcome }
  /** The key goes back to the queue when it may run. */
  | { readonly type: "hold"; readonly reason: string };

/** A schedule that starts with the queued keys. */
export function openRefSchedule(options: RefScheduleOptions, inLine: Iterable<{ readonly key: string }>): RefSchedule {
  const schedule = new RefSchedule(options);
  schedule.noteAll([...inLine].map(({ key }) => key));
  return schedule;
}

/**
 * Runs the objects of one controller in the order of their refs: the graph scheduler between the controller's queue and
 * its workers. The queue says that there is work; the graph says which key may run. Nothing is stored: the queue of a
 * new process starts with all objects.
 */
export class RefSchedule {
  readonly #options: RefScheduleOptions;
  readonly #kind: string;
  #state: State = emptyState({});
  /** The causes of keys from the queue that could not run, or whose run was cancelled. */
  readonly #held = new Map<string, readonly Cause[]>();
  /** Running keys. */
  readonly #begun = new Map<string, { readonly run: number; readonly abort: AbortController }>();
  /** Keys with new work since their run started. */
  readonly #again = new Set<string>();

  constructor(options: RefScheduleOptions) {
    this.#options = options;
    this.#kind = options.controller.kind.kind;
  }

  /**
   * Records work for a key that enters the queue: objects that refer to it now wait. A run of the key itself continues,
   * and is repeated. Returns further causes for the key.
   */
  note(key: string): readonly Cause[] {
    const object = this.#options.objectOf(key);
    const isRunning = this.#begun.has(key);
    if (isRunning) this.#again.add(key);
    return object && !isRunning ? this.#request(key, object).causes : [];
  }

  /** Records queued keys. None may run before all are recorded, because parents may come after their children. */
  noteAll(keys: readonly string[]): void {
    this.#step({ type: "lock", nowMs: this.#nowMs });
    for (const key of keys) this.note(key);
    this.#step({ type: "unlock", nowMs: this.#nowMs });
  }

  /** Asks to run a key that was taken from the queue with these causes. */
  admit(key: string, object: KubeObject, causes: readonly Cause[]): Admission {
    // Ask again even if the key was admitted earlier: a new object may now be between this key and one that runs.
    const { error } = this.#request(key, object, true);
    const id = resourceKey(this.#nameOf(key));
    const node = this.#state.nodes.get(id)!;
    if (node.status === "cyclic") {
      const message = `${this.#kind} ${key} cannot run: ${explain(this.#state, id)!.reason}`;
      return { type: "run", ends: terminal(new SetpointError("GRAPH_CYCLE", message)) };
    }
    const run = this.#granted(id);
    if (!run) {
      this.#hold(key, causes);
      return { type: "hold", reason: explain(this.#state, id)!.reason };
    }
    this.#held.delete(key);
    const abort = new AbortController();
    this.#begun.set(key, { run: run.id, abort });
    return { type: "run", cancelled: abort.signal, ...(error ? { ends: terminal(error) } : {}) };
  }

  /** An admitted run has ended. Without an outcome, its result is unknown. */
  returned(key: string, causes: readonly Cause[], outcome: Outcome | undefined): void {
    const begun = this.#begun.get(key);
    if (!begun) return;
    this.#begun.delete(key);
    if (this.#state.runs.get(String(begun.run))?.cancelled) this.#hold(key, causes);
    const nowMs = this.#nowMs;
    const due = this.#again.delete(key) ? { due: { at: nowMs, cause: { type: "requeue" } as const } } : {};
    this.#step({ type: "finished", run: begun.run, result: { ...resultOf(outcome), ...due }, nowMs });
  }

  /** The object of a key is gone. */
  forget(key: string): void {
    this.#held.delete(key);
    this.#again.delete(key);
    if (!this.#state.nodes.has(resourceKey(this.#nameOf(key)))) return;
    const name = this.#nameOf(key);
    // Remove its refs first, so that its removal does not wait for the runs above it.
    const edits: readonly Edit[] = [
      { type: "update", name, change: { refs: [] } },
      { type: "delete", name },
    ];
    this.#step({ type: "edit", edits, nowMs: this.#nowMs });
  }

  /** Throws a wait if a ref of this object is missing or has failed. */
  readonly requireRefs = (key: string): void => {
    const refs = this.#state.nodes.get(resourceKey(this.#nameOf(key)))?.meta.refs ?? [];
    for (const ref of refs) {
      const node = this.#state.nodes.get(resourceKey(ref));
      const error = node?.status === "cyclic" ? { message: "it is part of a cycle" } : node?.trace?.error;
      if (node && !error) continue;
      const message = `${this.#kind} ${keyText(ref)} ${error ? `has failed: ${error.message}` : "is not there"}`;
      throw waitFor("RefsReady", { message });
    }
  };

  get #nowMs(): number {
    return this.#options.clock.now();
  }

  /** Updates an object and its refs in the graph and requests its run. Returns further causes. */
  #request(
    key: string,
    object: KubeObject,
    isAnew = false,
  ): { causes: readonly Cause[]; error: SetpointError | undefined } {
    const name = this.#nameOf(key);
    const { refs, error } = this.#refsOf(key, object);
    const edits: Edit[] = [];
    if (this.#state.nodes.has(resourceKey(name))) edits.push({ type: "update", name, change: { refs } });
    else {
      const meta = { paths: [], tags: [], hidden: false };
      edits.push({ type: "create", name, refs, ...meta, spec: undefined, specHash: "object", weights: {} });
    }
    if (isAnew || !this.#granted(resourceKey(name))) edits.push({ type: "reconcile", name });
    const causes = this.#step({ type: "edit", edits, nowMs: this.#nowMs }, key);
    return { causes, error };
  }

  /** A deleted object does not wait for its refs, which may never settle. */
  #refsOf(key: string, object: KubeObject): { readonly refs: readonly ResourceName[]; readonly error?: SetpointError } {
    const { controller } = this.#options;
    if (object.metadata.deletionTimestamp) return { refs: [] };
    const { namespace } = object.metadata;
    try {
      const refs = controller.refs!(object).map((ref) => {
        const refKey = namespace === undefined || ref.includes("/") ? ref : `${namespace}/${ref}`;
        const problem = keyProblem(refKey, controller.kind);
        if (problem) throw new SetpointError("CONTROLLER_INVALID", `it gives ${problem}`);
        return this.#nameOf(refKey);
      });
      return { refs: sortedRefs(refs) };
    } catch (thrown) {
      const message = `controller ${controller.name}: refs of ${key}: ${messageOf(thrown)}`;
      return { refs: [], error: new SetpointError("CONTROLLER_INVALID", message, { cause: thrown }) };
    }
  }

  #hold(key: string, causes: readonly Cause[]): void {
    this.#held.set(key, mergeControllerCauses(this.#held.get(key) ?? [], causes));
  }

  #granted(id: Key): Run | undefined {
    const run = this.#state.runs.get(String(this.#state.nodes.get(id)?.run));
    return run?.cancelled === false ? run : undefined;
  }

  /** `known` is a key that the queue has or gets anyway. Returns the causes that it would have been queued with. */
  #step(event: Event, known?: string): readonly Cause[] {
    const events = [event];
    let knownCauses: readonly Cause[] = [];
    const enqueue = (key: string, causes: readonly Cause[]): void => {
      if (key === known) knownCauses = mergeControllerCauses(knownCauses, causes);
      else this.#options.enqueue(key, causes);
    };
    for (const next of events) {
      const { state, effects, refusal } = reduce(this.#state, next);
      if (refusal) throw new SetpointError(refusal.code, refusal.message);
      this.#state = state;
      for (const effect of effects) {
        const ended = this.#carryOut(effect, enqueue);
        const nowMs = this.#nowMs;
        if (ended !== undefined) events.push({ type: "finished", run: ended, result: { outcome: "done" }, nowMs });
      }
    }
    return knownCauses;
  }

  /** Returns runs that end at once: removals, which need no work, and runs that had not reached a worker. */
  #carryOut(effect: Effect, enqueue: RefScheduleOptions["enqueue"]): number | undefined {
    if (effect.type === "rest") {
      const node = this.#state.nodes.get(effect.id);
      if (node?.status === "cyclic") enqueue(keyText(node.meta.name), [{ type: "requeue" }]);
    } else if (effect.type === "start") {
      const run = this.#state.runs.get(String(effect.run))!;
      if (run.phase === "delete") return effect.run;
      const key = keyText(this.#state.nodes.get(effect.id)!.meta.name);
      const causes = mergeControllerCauses(this.#held.get(key) ?? [], this.#causesOf(run.causes));
      // Without a cause of the graph's own, the key is still in the queue: it was noted there.
      if (causes.length > 0) enqueue(key, causes);
      this.#held.delete(key);
    } else if (effect.type === "abort") {
      const begun = [...this.#begun.values()].find(({ run }) => run === effect.run);
      if (!begun) return effect.run;
      begun.abort.abort(new SetpointError("GRAPH_RUN_CANCELLED", effect.reason));
    }
    return undefined;
  }

  /** Translates the graph's causes into those of a controller. */
  #causesOf(causes: Run["causes"]): readonly Cause[] {
    return causes.flatMap((cause): readonly Cause[] => {
      if (cause.type === "uncycled") return [{ type: "requeue" }];
      if (cause.type !== "ref") return [];
      const change = cause.change === "deleted" ? "deleted" : "updated";
      return [{ type: "dependency", kind: this.#kind, key: keyText(cause.name), change }];
    });
  }

  /** The graph ignores the case of names, Kubernetes does not. Kubernetes names never contain a `%`, so it escapes capitals. */
  #nameOf(key: string): ResourceName {
    return { kind: this.#kind, name: key.replace(/[A-Z]/g, (letter) => `%${letter.toLowerCase()}`) };
  }
}

function keyText({ name }: ResourceName): string {
  return name.replace(/%(.)/g, (_, letter: string) => letter.toUpperCase());
}

function resultOf(outcome: Outcome | undefined): {
  readonly outcome: "done" | "waitFor" | "retry" | "terminal";
  readonly error?: { readonly message: string };
} {
  switch (outcome?.type) {
    case "waitFor":
      return { outcome: "waitFor" };
    case "retry":
    case "terminal":
      return { outcome: outcome.type, error: { message: messageOf(outcome.error) } };
    case undefined:
      return { outcome: "retry", error: { message: "the result of its run is unknown" } };
    default:
      return { outcome: "done" };
  }
}
