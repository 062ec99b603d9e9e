import { type Duration, parseDuration } from "../clock/duration.js";
import { SetpointError } from "../errors/error.js";
import type { Outcome } from "../loop/outcome.js";
import { type RetryPolicy, type RetryTimes, retryTimes } from "../loop/retry-policy.js";
import type { GraphContext } from "./graph-context.js";
import type { GraphResource, ResourceName } from "./resource.js";
import type { Weights } from "./state.js";

/** A schema of any Standard Schema library; its validation must be synchronous. */
export interface GraphSchema<Value = unknown> {
  readonly "~standard": {
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly output: Value } | undefined;
  };
}

/** What a run returns: an outcome, or a report with an outcome. Nothing means `done`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconciler may return nothing at all.
export type GraphResult = Outcome | GraphReport | undefined | void;

export interface GraphReport {
  /** Defaults to done. */
  readonly outcome?: Outcome;
  /**
   * What dependents compare: equal output, equal version. Without one, every successful run counts as a new output. A
   * version that is derived from the data survives restarts.
   */
  readonly outputVersion?: string;
  /** Wall time in milliseconds of the next run; a time in the past runs again at once. */
  readonly runAgainAt?: number;
  /** Shown with the resource. Warnings never cause a run. */
  readonly warnings?: readonly string[];
}

export interface GraphKindOptions<Spec, State> {
  /** The kind in the names of its resources: `Model`. */
  readonly name: string;
  /** Validates each spec; its result becomes the spec. */
  readonly spec?: GraphSchema<Spec>;
  readonly state?: GraphSchema<State>;
  /**
   * Brings the world to the state that the spec describes. Must be idempotent; may be called at any time, and again
   * after it was cancelled. All resources of the kind share it: treat its own variables as a cache.
   */
  reconcile(resource: GraphResource<Spec, State>, ctx: GraphContext<State>): GraphResult | Promise<GraphResult>;
  /** Removes what a deleted resource left in the world. Called until it succeeds. */
  remove?(resource: GraphResource<Spec, State>, ctx: GraphContext<State>): GraphResult | Promise<GraphResult>;
  /**
   * Moves what the resource keeps in the world from one name to another, so that nothing has to be rebuilt. Must succeed where
   * it has already moved: nothing is at `from`. Without it, `remove` is called with the old name and then `reconcile` with the
   * new; `meta.renamedFrom` is set meanwhile.
   */
  rename?(
    resource: GraphResource<Spec, State>,
    move: { readonly from: ResourceName; readonly to: ResourceName },
    ctx: GraphContext<State>,
  ): GraphResult | Promise<GraphResult>;
  /**
   * `always`, the default: runs when all refs have finished and one of them ran. `changed`: settles without a call if
   * the spec, the refs' output versions and the refs' failures are those of its last run, so that a restart runs
   * nothing.
   */
  readonly whenRefsFinish?: "always" | "changed";
  /** Delays after failures. Defaults to 100 ms doubling up to 5 minutes. */
  readonly retry?: RetryPolicy;
  /** How much of the graph's capacity a run uses. */
  readonly weight?: Weights | ((spec: Spec) => Weights);
  /** Aborts a run after this long; it counts as failed. Defaults to no limit. */
  readonly timeout?: Duration;
}

/** A kind of resource in a graph. */
export interface GraphKind<Spec = unknown, State = unknown> {
  readonly type: "graphKind";
  readonly name: string;
  readonly options: GraphKindOptions<Spec, State>;
  readonly whenRefsFinish: "always" | "changed";
  readonly retry: RetryTimes;
  readonly timeoutMs: number | undefined;
}

/**
 * Declares a kind of resource.
 *
 * ```ts
 * const Table = graphKind<{ sql: string }, { rows: number }>({
 *   name: "Table",
 *   whenRefsFinish: "changed",
 *   async reconcile(table, ctx) {
 *     const rows = await ctx.effect("build", (signal) => buildTable(table.spec.sql, signal));
 *     ctx.updateState({ rows });
 *     return { outputVersion: String(rows) };
 *   },
 *   remove: (table, ctx) => ctx.effect("drop", () => dropTable(table.meta.name.name)),
 * });
 * ```
 */
export function graphKind<Spec = unknown, State = unknown>(
  options: GraphKindOptions<Spec, State>,
): GraphKind<Spec, State> {
  const { name, whenRefsFinish = "always" } = options;
  const invalid = (message: string) => new SetpointError("GRAPH_KIND_INVALID", `graph kind ${name}: ${message}`);
  if (!/^[A-Za-z][\w.-]*$/.test(name)) throw invalid("its name must begin with a letter and contain no slash");
  if (typeof options.reconcile !== "function") throw invalid("reconcile is not a function");
  if (whenRefsFinish !== "always" && whenRefsFinish !== "changed") {
    throw invalid(`whenRefsFinish is ${String(whenRefsFinish)}, not "always" or "changed"`);
  }
  return {
    type: "graphKind",
    name,
    options,
    whenRefsFinish,
    retry: retryTimes(options.retry ?? {}, `graph kind ${name}`),
    timeoutMs:
      options.timeout === undefined ? undefined : parseDuration(options.timeout, `graph kind ${name}: timeout`),
  };
}

export function kindsByName(kinds: readonly GraphKind[]): ReadonlyMap<string, GraphKind> {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  if (byName.size === kinds.length) return byName;
  const twice = kinds.find((kind) => byName.get(kind.name) !== kind)?.name ?? kinds[0]?.name;
  throw new SetpointError("GRAPH_KIND_INVALID", `the kind ${twice} is declared twice`);
}

export function checkedCapacity(capacity: Weights): Weights {
  for (const [name, amount] of Object.entries(capacity)) {
    if (amount > 0) continue;
    throw new SetpointError("GRAPH_KIND_INVALID", `the capacity of ${name} is ${amount}: nothing could ever run`);
  }
  return capacity;
}

/** What a run of a resource weighs; throws where that is no amount, which would never find room. */
export function weightsOf(kind: GraphKind | undefined, spec: unknown, what: string): Weights {
  const { weight } = kind?.options ?? {};
  const weights = (typeof weight === "function" ? weight(spec) : weight) ?? {};
  for (const [name, amount] of Object.entries(weights)) {
    if (Number.isFinite(amount) && amount >= 0) continue;
    throw new SetpointError("GRAPH_KIND_INVALID", `${what}: its weight of ${name} is ${amount}`);
  }
  return weights;
}

/** The value as the schema returns it. Throws `GRAPH_SPEC_INVALID` with each invalid field. */
export function checked<Value>(schema: GraphSchema<Value> | undefined, value: unknown, what: string): Value {
  if (!schema) return value as Value;
  const validated = schema["~standard"].validate(value);
  if (validated instanceof Promise) {
    validated.catch(() => {}); // the result is ignored
    throw new SetpointError(
      "GRAPH_KIND_INVALID",
      `${what}: its schema validates asynchronously, but a graph needs a synchronous schema`,
    );
  }
  const result = validated as {
    readonly value?: Value;
    readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
  };
  if (!result.issues) return result.value as Value;
  const problems = result.issues.map(({ message, path = [] }) => {
    const field = path.map((part) => (typeof part === "object" && part !== null && "key" in part ? part.key : part));
    return field.length > 0 ? `${field.join(".")}: ${message}` : message;
  });
  throw new SetpointError("GRAPH_SPEC_INVALID", `${what}: ${problems.join("; ")}`);
}
