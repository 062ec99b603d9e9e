import type { Clock, Timer } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import { isSetpointError, SetpointError } from "../errors/error.js";
import { Backoff } from "../loop/backoff.js";
import { currentSignal, type Fence } from "../loop/fence.js";
import type { Logger } from "../loop/logger.js";
import * as outcomes from "../loop/outcome.js";
import { canonical, deepFreeze } from "./canonical.js";
import { explain } from "./explain.js";
import { describeGraphCause } from "./graph-cause.js";
import type { GraphContext } from "./graph-context.js";
import type { GraphEditor } from "./graph-editor.js";
import { checked, type GraphKind, type GraphReport, type GraphResult } from "./graph-kind.js";
import { type GraphError, type GraphResource, nameText, type ResourceName, resourceKey } from "./resource.js";
import type { GraphRunResult, Node, Run, State } from "./state.js";
import { viewOf } from "./view.js";

export interface GraphRunOptions {
  readonly run: Run;
  readonly node: Node;
  /** Undefined if the kind of a stored resource is no longer declared. */
  readonly kind: GraphKind | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly fence: Fence;
  readonly editor: GraphEditor;
  readonly state: () => State;
  readonly updateState: (state: unknown) => void;
}

/** One call of a kind's function. */
export class GraphRun {
  /** What the run came to; never rejects. */
  readonly returned: Promise<GraphRunResult>;
  readonly #options: GraphRunOptions;
  readonly #abort = new AbortController();
  readonly #effects: string[] = [];
  #instead: GraphRunResult["instead"];
  #isOver = false;

  constructor(options: GraphRunOptions) {
    this.#options = options;
    this.returned = this.#execute();
  }

  abort(reason: string): void {
    this.#abort.abort(new SetpointError("GRAPH_RUN_CANCELLED", reason));
  }

  async #execute(): Promise<GraphRunResult> {
    const { kind, clock } = this.#options;
    let timer: Timer | undefined;
    let hasTimedOut = false;
    if (kind?.timeoutMs !== undefined) {
      timer = clock.timer(kind.timeoutMs, () => {
        hasTimedOut = true;
        this.abort(`the run has taken longer than ${kind.timeoutMs} ms`);
      });
    }
    let result: GraphResult;
    try {
      result = await this.#call();
    } catch (thrown) {
      result = outcomes.isOutcome(thrown) ? thrown : outcomes.retry(thrown);
    } finally {
      timer?.[Symbol.dispose]();
      this.#isOver = true;
    }
    if (hasTimedOut) result = outcomes.retry(this.#abort.signal.reason);
    const instead = this.#instead ? { instead: this.#instead } : {};
    return { ...this.#resultOf(result ?? outcomes.done()), ...instead, effects: this.#effects };
  }

  async #call(): Promise<GraphResult> {
    const { run, node, kind } = this.#options;
    const { name } = node.meta;
    if (!kind)
      throw outcomes.terminal(new SetpointError("GRAPH_KIND_UNKNOWN", `${nameText(name)}: no such kind is declared`));
    const { options } = kind;
    const resource = viewOf(node);
    const ctx = this.#context(kind);
    if (run.phase === "reconcile") return options.reconcile(resource, ctx);
    if (run.phase === "delete") return options.remove?.(resource, ctx);
    const to = run.moveTo ?? name;
    for (const from of [node.meta.renamedFrom!, ...(node.origins ?? [])]) {
      if (nameText(from) === nameText(to)) continue;
      const done = options.rename
        ? await options.rename(resource, { from, to }, ctx)
        : await options.remove?.({ ...resource, meta: { ...resource.meta, name: from } }, ctx);
      if (done && outcomeOf(done).type !== "done") return done;
    }
    if (options.rename) return undefined;
    this.#instead = run.moveTo || node.unsettledRefs > 0 ? "removed" : "rebuilt";
    return this.#instead === "rebuilt" ? options.reconcile(resource, ctx) : undefined;
  }

  #context(kind: GraphKind): GraphContext {
    const { run, node, fence, log, editor, state } = this.#options;
    const signal = this.#abort.signal;
    const text = nameText(node.meta.name);
    const view = (name: ResourceName): GraphResource | undefined => {
      const isOwn = resourceKey(name) === resourceKey(node.meta.name);
      const found = state().nodes.get(isOwn ? (state().runs.get(String(run.id))?.node ?? "") : resourceKey(name));
      return found && viewOf(found);
    };
    const assertOpen = (): void => {
      if (this.#isOver)
        throw new SetpointError("GRAPH_RUN_OVER", `the run of ${text} has ended; await every promise in it`);
    };
    return {
      causes: run.causes,
      attempt: run.attempt,
      get signal(): AbortSignal {
        return currentSignal(signal, fence);
      },
      log: log.with({ resource: text, run: run.id, causes: run.causes.map(describeGraphCause) }),
      effect: async (name, effect) => {
        assertOpen();
        signal.throwIfAborted();
        fence.check();
        this.#effects.push(name);
        return effect(signal);
      },
      updateState: (given) => {
        assertOpen();
        const value = deepFreeze(checked(kind.options.state, given, `the state of ${text}`));
        const current = state().nodes.get(state().runs.get(String(run.id))?.node ?? "");
        if (current && canonical(current.state) !== canonical(value)) this.#options.updateState(value);
      },
      get: view,
      refs: () => node.meta.refs.flatMap((ref) => view(ref) ?? []),
      requireRefs: () => this.#requireRefs(),
      graph: editor,
    };
  }

  #requireRefs(): void {
    const { node, state } = this.#options;
    const bad = node.meta.refs
      .map((ref) => ({ ref, found: state().nodes.get(resourceKey(ref)) }))
      .filter(({ found }) => !found || viewOf(found).error !== undefined);
    const [first] = bad;
    if (!first) return;
    const others = bad.length > 1 ? `; ${bad.length - 1} other refs are missing or have failed` : "";
    const root = explain(state(), resourceKey(first.ref))?.failedRefs.at(-1) ?? first.ref;
    const rootNode = state().nodes.get(resourceKey(root));
    const why = rootNode ? (viewOf(rootNode).error?.message ?? "it has failed") : "it does not exist";
    const by = resourceKey(root) === resourceKey(first.ref) ? "" : ` because of ${nameText(root)}`;
    const message = `dependency error: ${nameText(first.ref)} cannot be used${by}: ${why}${others}`;
    throw outcomes.terminal(new SetpointError("GRAPH_REF_FAILED", message));
  }

  #resultOf(result: outcomes.Outcome | GraphReport): GraphRunResult {
    const { clock, random, run, kind } = this.#options;
    let outcome = outcomeOf(result);
    const report: GraphReport = outcomes.isOutcome(result) ? {} : result;
    const { runAgainAt = 0 } = report;
    const isTime = Number.isFinite(runAgainAt);
    const problem =
      outcomes.outcomeProblem(outcome) ?? (isTime ? undefined : `runAgainAt ${runAgainAt}, which is not a time`);
    if (problem) outcome = outcomes.terminal(new SetpointError("GRAPH_KIND_INVALID", `it returned ${problem}`));
    const nowMs = clock.now();
    const shared = report.warnings ? { warnings: report.warnings } : {};
    switch (outcome.type) {
      case "done":
      case "requeueAfter": {
        const at = outcome.type === "done" ? report.runAgainAt : nowMs + outcome.afterMs;
        return {
          ...shared,
          outcome: "done",
          ...(report.outputVersion === undefined ? {} : { outputVersion: report.outputVersion }),
          ...(at === undefined ? {} : { due: { at, cause: { type: "requeue" } } }),
        };
      }
      case "waitFor":
        return {
          ...shared,
          outcome: "waitFor",
          due: { at: nowMs + outcome.recheckMs, cause: { type: "recheck", reason: outcome.reason } },
        };
      case "terminal":
        return { ...shared, outcome: "terminal", error: errorValue(outcome.error) };
      case "retry": {
        const error = errorValue(outcome.error);
        const times = kind?.retry;
        const isParked = times !== undefined && run.attempt >= times.maxAttempts;
        const delayMs = isParked ? times.backoff.max : new Backoff(random, times?.backoff).delayAfter(run.attempt);
        const cause = { type: "retry", attempt: run.attempt + 1, error: error.message } as const;
        return { ...shared, outcome: "retry", error, due: { at: nowMs + (outcome.afterMs ?? delayMs), cause } };
      }
    }
  }
}

function outcomeOf(result: outcomes.Outcome | GraphReport): outcomes.Outcome {
  return outcomes.isOutcome(result) ? result : (result.outcome ?? outcomes.done());
}

function errorValue(error: unknown): GraphError {
  return { message: outcomes.messageOf(error), ...(isSetpointError(error) ? { code: error.code } : {}) };
}
