import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { SetpointError } from "../errors/error.js";
import type { IndexFunction } from "../informer/informer.js";
import { type Kind, kindId, type ObjectOf, type Scope, type Stored } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { Outcome } from "../loop/outcome.js";
import { type RetryPolicy, type RetryTimes, retryTimes } from "../loop/retry-policy.js";
import type { GoneContext, ReconcileContext } from "./context.js";
import { checkDeclaration, optionalFunctions } from "./declaration-check.js";
import type { FieldPath } from "./field-path-type.js";
import type { MetricSource } from "./metric-source.js";
import type { RbacRule } from "./rbac-rule.js";
import { checkFinalizerName } from "./run/finalizer.js";

/** What a controller may do to objects that it does not own; `status` patches the status subresource. */
export type WriteVerb = "create" | "update" | "patch" | "delete" | "status";

/** A kind with the part of it that is cached, and what is done to it; {@link scoped} makes one. */
export interface ScopedKind<K extends Kind = Kind, Index extends string = string> {
  readonly kind: K;
  /** `"all"`, or these namespaces. Defaults to those that the controller watches. */
  readonly namespaces?: "all" | readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Where its objects live; the manager's own cluster where left out. */
  readonly cluster?: string;
  /** What is written of a kind that is not owned, so that RBAC allows for it. */
  readonly writes?: readonly WriteVerb[];
  /** For look-ups with `ctx.byIndex`, by name. */
  readonly indexes?: Readonly<Record<Index, (object: never) => readonly string[]>>;
}

/**
 * A kind in a scope, with typed indexes.
 *
 * ```ts
 * controller(Website, {
 *   uses: [
 *     scoped(ConfigMap, { namespaces: "all", indexes: { team: (map) => [map.data?.team ?? ""] } }),
 *     scoped(Namespace, { writes: ["patch"] }),
 *   ],
 *   reconcile,
 * });
 * ```
 */
export function scoped<K extends Kind, Index extends string = never>(
  kind: K,
  scope: Omit<ScopedKind<K>, "kind" | "indexes"> & {
    readonly indexes?: Readonly<Record<Index, IndexFunction<ObjectOf<K>>>>;
  },
): ScopedKind<K, Index> {
  return { kind, ...scope };
}

/**
 * The namespaces that a controller watches: all, those of these names, or those that carry these labels, as they come and go.
 */
export type NamespaceScope = "all" | readonly string[] | { readonly labelSelector: string };

/** What to run again when an object of another kind changes; for relations that no read shows. {@link mapped} makes one. */
export interface WatchDeclaration<K extends Kind = Kind> extends ScopedKind<K> {
  /** The keys to run: `namespace/name`, the name alone for a cluster-scoped kind. Must be pure. */
  readonly map: (object: never) => readonly string[];
  readonly when?: Predicate<never, string>;
}

/**
 * A watch that runs the keys which `map` gives for an object, before and after it changed. Of ConfigMaps and Secrets it
 * names the namespaces, or says `namespaces: "all"`, unless the controller does.
 *
 * ```ts
 * controller(Website, {
 *   watches: [mapped(Namespace, ({ metadata }) => [`${metadata.name}/front`], { when: { changed: ["metadata.labels"] } })],
 *   reconcile,
 * });
 * ```
 */
export function mapped<K extends Kind>(
  kind: K,
  map: (object: ObjectOf<K>) => readonly string[],
  scope: Omit<ScopedKind<K>, "kind" | "indexes"> & { readonly when?: Predicate<ObjectOf<K>> } = {},
): WatchDeclaration<K> {
  return { kind, map, ...scope };
}

/** Which changes count. Deletions and resyncs always do. */
export interface Predicate<T extends KubeObject = KubeObject, Path extends string = FieldPath<T>> {
  /**
   * An update counts only where one of these paths changed: `spec`, `metadata.labels`; a key that is no plain word stands in
   * brackets: `metadata.labels[example.com/team]`. What is new counts anyway.
   */
  readonly changed?: readonly Path[];
  /** What is new counts where this holds; an update, where it holds of the object before or after. */
  readonly matches?: (object: T) => boolean;
}

/**
 * Something besides objects that asks for runs: a timer, a channel, a webhook. Ends when the signal is aborted.
 *
 * ```ts
 * const payments = new EventTarget(); // other code: payments.dispatchEvent(new CustomEvent("paid", { detail: "team/a" }))
 * const paid: Trigger = {
 *   name: "paid",
 *   start: ({ enqueue, signal }) =>
 *     payments.addEventListener("paid", (event) => enqueue((event as CustomEvent<string>).detail), { signal }),
 * };
 * ```
 */
export interface Trigger {
  readonly name: string;
  /** Called when the controller begins to work. */
  start(context: TriggerContext): void;
}

/** What a {@link Trigger} works with. */
export interface TriggerContext {
  /**
   * Runs a key: `namespace/name`, the name alone for a cluster-scoped kind. Never throws: an object that is not there is
   * passed over, what cannot be a key is logged.
   */
  readonly enqueue: (key: string) => void;
  /** The keys of all objects. */
  readonly keys: () => Iterable<string>;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
  /** The manager's. */
  readonly clock: Clock;
}

/** Kinds that are cached for the whole cluster only with `namespaces: "all"`. */
export function isCautious(kind: Kind): boolean {
  const id = kindId(kind);
  return id === "v1/Secret" || id === "v1/ConfigMap";
}

/** Why no object of the kind can have this key; undefined for one that may. */
export function keyProblem(key: string, { scope, kind }: Kind): string | undefined {
  const isNamespaced = scope === "Namespaced";
  if (typeof key === "string" && key.includes("/") === isNamespaced) return undefined;
  return `${JSON.stringify(key)}, which is not a key of a ${kind}: write ${isNamespaced ? "namespace/name" : "the name alone"}`;
}

export interface FailedRun {
  readonly controller: string;
  readonly key: string;
  readonly attempt: number;
  readonly parked: boolean;
}

/** What a reconciler returns; nothing is as good as `done`. */
// biome-ignore lint/suspicious/noConfusingVoidType: what a function without a result returns
export type ReconcileResult = Promise<Outcome | undefined | void> | Outcome | undefined | void;

/** A kind as controllers declare it: in their own scope, or in one that is stated. */
export type KindUse = Kind | ScopedKind;

/** The kinds of a list of declarations. */
export type KindsOf<Uses extends readonly KindUse[]> = Uses[number] extends infer Use
  ? Use extends { readonly kind: infer K extends Kind }
    ? K
    : Extract<Use, Kind>
  : never;

/** The names of the indexes that a list of declarations gives a kind; any name where the declarations are not known. */
export type IndexesOf<Uses extends readonly KindUse[], K extends Kind> = readonly KindUse[] extends Uses
  ? string
  : Uses[number] extends infer Use
    ? Use extends ScopedKind<infer Of, infer Index>
      ? K extends Of
        ? Index
        : never
      : never
    : never;

export interface ControllerOptions<
  T extends KubeObject,
  Uses extends readonly KindUse[] = readonly KindUse[],
  Owns extends readonly KindUse[] = readonly KindUse[],
  State extends object = Record<string, unknown>,
  /** The object as callbacks get it. */
  Own extends T = T,
> {
  /** For metrics, logs, and the names of field manager and finalizer. Defaults to the plural of the kind. */
  readonly name?: string;
  /** Kinds whose objects this controller makes. */
  readonly owns?: Owns;
  /** Kinds that it reads. */
  readonly uses?: Uses;
  /** What it writes of its own kind by `ctx`, besides status and finalizer, so that RBAC allows for it. */
  readonly writes?: readonly WriteVerb[];
  readonly watches?: readonly WatchDeclaration[];
  readonly triggers?: readonly Trigger[];
  /**
   * The namespaces that it watches; all where left out. Those of a label selector are followed: a namespace that is given the
   * labels has its objects reconciled, one that loses them is left alone. Caches then hold all namespaces.
   */
  readonly namespaces?: NamespaceScope;
  readonly labelSelector?: string;
  readonly when?: Predicate<T>;
  /**
   * Objects for which this holds are left alone until they change: no run, no finalizer, no status, nothing when they are
   * deleted.
   */
  readonly ignores?: (object: Own) => boolean;
  /** Makes what `ctx.state` is at first, of each object anew: it gives that its type. An empty object where left out. */
  readonly state?: () => State;
  /**
   * The objects of this kind that an object refers to, by name, or as `namespace/name`: they run first, never beside it, and it
   * runs again when they have. Work on one of them cancels its run. Must be pure; see `ctx.requireRefs`.
   */
  refs?(object: Own): readonly string[];
  /** Brings the world to what the object says. Called again and again: must be idempotent. */
  reconcile(
    object: Own,
    ctx: ReconcileContext<
      T,
      Kind<T> | KindsOf<Uses> | KindsOf<Owns>,
      KindsOf<Owns>,
      readonly [...Uses, ...Owns],
      State
    >,
  ): ReconcileResult;
  /** Undoes what lies outside before the object goes; holds a finalizer for it. Owned children go by themselves. */
  finalize?(
    object: Own,
    ctx: ReconcileContext<
      T,
      Kind<T> | KindsOf<Uses> | KindsOf<Owns>,
      KindsOf<Owns>,
      readonly [...Uses, ...Owns],
      State
    >,
  ): ReconcileResult;
  /**
   * Looks after an object to its end without holding it: called in place of `reconcile` while the object is being deleted
   * and somebody else's finalizer, or a grace period, keeps it. Its status is still written. Left out: nothing is done then.
   */
  deleting?(
    object: Own,
    ctx: ReconcileContext<
      T,
      Kind<T> | KindsOf<Uses> | KindsOf<Owns>,
      KindsOf<Owns>,
      readonly [...Uses, ...Owns],
      State
    >,
  ): ReconcileResult;
  /**
   * Cleans up what this process keeps of an object that is gone, or no longer selected: caches, metrics. Adds no finalizer,
   * so it is not called for what goes while no process runs; nor is the key reconciled before it has ended. May be called
   * for an object that was never reconciled, and again where it throws: must be idempotent.
   */
  gone?(key: string, ctx: GoneContext): Promise<void> | void;
  /** Defaults to `setpoint.dev/NAME`. */
  readonly finalizer?: string;
  /**
   * `optional`: it works on where the definition that is installed has no conditions, and shows none. By default that is a
   * failure (`CONDITIONS_MISSING`). What else a definition lacks of a status is left out in either case.
   */
  readonly conditions?: "required" | "optional";
  /** Who owns the fields that it applies. Defaults to `setpoint-NAME`. */
  readonly fieldManager?: string;
  /**
   * How many objects are reconciled at once; never one object twice. Defaults to 4: enough to hide the latency of an API
   * server, few enough not to overrun what stands behind a reconciler. 1 puts all runs one after the other.
   */
  readonly concurrency?: number;
  readonly retry?: RetryPolicy;
  /** After which a run's signal is aborted. Defaults to 5 minutes. */
  readonly timeout?: Duration;
  /** Looks at every object again after this long. Defaults to never: changes are seen, retries and waits have their own time. */
  readonly resync?: Duration;
  /** Told of every failed run, retries included. Must not throw. */
  readonly onError?: (error: unknown, run: FailedRun) => void;
  /** Counters and gauges of its own. */
  readonly metrics?: readonly MetricSource[];
  /** What it needs beyond the kinds that it declares, for RBAC: to bind a role, to evict a pod. */
  readonly permissions?: readonly RbacRule[];
}

/** A controller as declared: plain data, checked. `LiveController` brings it to life. */
export interface Controller<T extends KubeObject = KubeObject> {
  readonly type: "controller";
  readonly name: string;
  readonly kind: Kind<T>;
  readonly owns: readonly ScopedKind[];
  readonly uses: readonly ScopedKind[];
  readonly writes: readonly WriteVerb[];
  readonly watches: readonly WatchDeclaration[];
  readonly triggers: readonly Trigger[];
  /** Those that are named; undefined where it watches all, or follows labels. */
  readonly namespaces: readonly string[] | undefined;
  /** The labels of the namespaces that it follows. */
  readonly namespaceSelector: string | undefined;
  readonly labelSelector: string | undefined;
  readonly when: Predicate<T>;
  readonly ignores: ((object: T) => boolean) | undefined;
  readonly state: () => Record<string, unknown>;
  readonly refs: ((object: T) => readonly string[]) | undefined;
  reconcile(object: T, ctx: ReconcileContext<T>): unknown;
  readonly finalize: ((object: T, ctx: ReconcileContext<T>) => unknown) | undefined;
  readonly deleting: ((object: T, ctx: ReconcileContext<T>) => unknown) | undefined;
  readonly gone: ((key: string, ctx: GoneContext) => unknown) | undefined;
  readonly finalizer: string;
  readonly conditions: "required" | "optional";
  readonly fieldManager: string;
  readonly concurrency: number;
  readonly backoff: RetryTimes["backoff"];
  readonly maxAttempts: number;
  readonly timeoutMs: number;
  readonly resyncMs: number | undefined;
  readonly onError: ((error: unknown, run: FailedRun) => void) | undefined;
  readonly metrics: readonly MetricSource[];
  readonly permissions: readonly RbacRule[];
}

/**
 * Declares a controller: one kind and what is done about its objects. Throws `CONTROLLER_INVALID` for what cannot run.
 *
 * ```ts
 * const websites = controller(Website, {
 *   owns: [Deployment],
 *   async reconcile(site, ctx) {
 *     const deployment = await ctx.apply(Deployment, desired(site));
 *     ctx.status({ ready: deployment.status?.readyReplicas ?? 0 });
 *   },
 * });
 * ```
 */
export function controller<
  T extends KubeObject,
  const Uses extends readonly KindUse[] = [],
  const Owns extends readonly KindUse[] = [],
  S extends Scope = Scope,
  State extends object = Record<string, unknown>,
>(
  kind: Kind<T, S>,
  options: ControllerOptions<NoInfer<T>, Uses, Owns, State, Stored<NoInfer<T>, NoInfer<S>>>,
): Controller<T> {
  checkDeclaration("controller", kind, options, CONTROLLER_OPTIONS, CONTROLLER_FUNCTIONS);
  const name = options.name ?? kind.plural;
  const { concurrency = 4, retry = {} } = options;
  const invalid = (message: string): SetpointError =>
    new SetpointError("CONTROLLER_INVALID", `controller ${name}: ${message}`);
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)) {
    throw invalid("its name must be lower-case letters, digits and dashes");
  }
  if (!Number.isInteger(concurrency) || concurrency < 1) throw invalid(`concurrency is ${concurrency}, not 1 or more`);
  const { backoff, maxAttempts } = retryTimes(retry, `controller ${name}`);
  const finalizer = options.finalizer ?? `setpoint.dev/${name}`;
  checkFinalizerName(finalizer, name);
  const owns = (options.owns ?? []).map(asScoped);
  const uses = (options.uses ?? []).map(asScoped);
  const twice = [...owns, ...uses].map(idOf).find((id, at, ids) => ids.indexOf(id) !== at);
  if (twice) throw invalid(`it declares ${twice} twice; owns includes reading`);
  return {
    type: "controller",
    name,
    kind,
    owns,
    uses,
    writes: options.writes ?? [],
    watches: options.watches ?? [],
    triggers: options.triggers ?? [],
    ...namespacesOf(options.namespaces),
    labelSelector: options.labelSelector,
    when: options.when ?? {},
    ignores: options.ignores as Controller<T>["ignores"],
    state: (options.state ?? (() => ({}))) as Controller<T>["state"],
    refs: options.refs && ((object) => options.refs?.(object as never) ?? []),
    reconcile: options.reconcile as Controller<T>["reconcile"],
    finalize: options.finalize as Controller<T>["finalize"],
    deleting: options.deleting as Controller<T>["deleting"],
    gone: options.gone && ((key, ctx) => options.gone?.(key, ctx)),
    finalizer,
    conditions: options.conditions ?? "required",
    fieldManager: options.fieldManager ?? `setpoint-${name}`,
    concurrency,
    backoff,
    maxAttempts,
    timeoutMs: parseDuration(options.timeout ?? "5m", `controller ${name}: timeout`),
    resyncMs: options.resync === undefined ? undefined : parseDuration(options.resync, `controller ${name}: resync`),
    onError: options.onError,
    metrics: options.metrics ?? [],
    permissions: options.permissions ?? [],
  };
}

const CONTROLLER_OPTIONS = {
  name: true,
  owns: true,
  uses: true,
  writes: true,
  watches: true,
  triggers: true,
  namespaces: true,
  labelSelector: true,
  when: true,
  ignores: true,
  state: true,
  refs: true,
  reconcile: true,
  finalize: true,
  deleting: true,
  gone: true,
  finalizer: true,
  conditions: true,
  fieldManager: true,
  concurrency: true,
  retry: true,
  timeout: true,
  resync: true,
  onError: true,
  metrics: true,
  permissions: true,
} as const satisfies Record<keyof ControllerOptions<KubeObject>, true>;

const CONTROLLER_FUNCTIONS = {
  reconcile: "needed",
  ...optionalFunctions("refs", "finalize", "deleting", "gone", "onError", "ignores", "state"),
} as const;

function namespacesOf(scope: NamespaceScope | undefined): Pick<Controller, "namespaces" | "namespaceSelector"> {
  if (scope === undefined || scope === "all") return { namespaces: undefined, namespaceSelector: undefined };
  if ("labelSelector" in scope) return { namespaces: undefined, namespaceSelector: scope.labelSelector };
  return { namespaces: scope, namespaceSelector: undefined };
}

function asScoped(use: KindUse): ScopedKind {
  return "plural" in use ? { kind: use } : use;
}

function idOf(use: ScopedKind): string {
  return sourceId(use.kind, use.cluster);
}

/** A kind in its cluster: `apps/v1/Deployment`, or `apps/v1/Deployment in edge`. */
export function sourceId(kind: Kind, cluster: string | undefined): string {
  return cluster === undefined ? kindId(kind) : `${kindId(kind)} in ${cluster}`;
}
