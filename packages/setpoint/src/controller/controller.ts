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

/** A kind with the cached part of it, its indexes and its writes; made by {@link scoped}. */
export interface ScopedKind<K extends Kind = Kind, Index extends string = string> {
  readonly kind: K;
  /** `"all"`, or these namespaces. Defaults to those that the controller watches. */
  readonly namespaces?: "all" | readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The cluster of its objects. Defaults to the manager's own cluster. */
  readonly cluster?: string;
  /** The verbs on a kind that is not owned, for RBAC. */
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

/** The namespaces that a controller watches: all, those with these names, or those with these labels, kept up to date. */
export type NamespaceScope = "all" | readonly string[] | { readonly labelSelector: string };

/** Which keys to run when an object of another kind changes, for relations that no read shows. {@link mapped} makes one. */
export interface WatchDeclaration<K extends Kind = Kind> extends ScopedKind<K> {
  /** The keys to run: `namespace/name`, or just the name for a cluster-scoped kind. Must be pure. */
  readonly map: (object: never) => readonly string[];
  readonly when?: Predicate<never, string>;
}

/**
 * A watch that runs the keys which `map` returns for an object before and after a change. For ConfigMaps and Secrets,
 * give the namespaces or `namespaces: "all"`, unless the controller has a list.
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
   * An update counts only if one of these paths changed: `spec`, `metadata.labels`. A key that is not a plain word goes
   * in brackets: `metadata.labels[example.com/team]`. New objects always count.
   */
  readonly changed?: readonly Path[];
  /** A new object counts if this returns true; an update, if it returns true for the object before or after. */
  readonly matches?: (object: T) => boolean;
}

/**
 * A source of runs other than objects: a timer, a channel, a webhook. Stops when the signal is aborted.
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
  /** Called when the controller starts to work. */
  start(context: TriggerContext): void;
}

/** The context of a {@link Trigger}. */
export interface TriggerContext {
  /**
   * Runs a key: `namespace/name`, or just the name for a cluster-scoped kind. Never throws: ignores an object that does
   * not exist, and logs an invalid key.
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

/** Why no object of the kind can have this key; undefined for a valid key. */
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

/** What a reconciler returns; nothing means `done`. */
// biome-ignore lint/suspicious/noConfusingVoidType: what a function without a result returns
export type ReconcileResult = Promise<Outcome | undefined | void> | Outcome | undefined | void;

/** A kind in a declaration: in the controller's scope, or in a stated one. */
export type KindUse = Kind | ScopedKind;

/** The kinds of a list of declarations. */
export type KindsOf<Uses extends readonly KindUse[]> = Uses[number] extends infer Use
  ? Use extends { readonly kind: infer K extends Kind }
    ? K
    : Extract<Use, Kind>
  : never;

/** The names of the indexes that a list of declarations gives a kind; any name if the declarations are not known. */
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
  /** The type of the object in callbacks. */
  Own extends T = T,
> {
  /** For metrics, logs, and the names of field manager and finalizer. Defaults to the plural of the kind. */
  readonly name?: string;
  /** Kinds whose objects this controller creates. */
  readonly owns?: Owns;
  /** Kinds that it reads. */
  readonly uses?: Uses;
  /** The verbs on its own kind that it uses through `ctx`, besides status and finalizer, for RBAC. */
  readonly writes?: readonly WriteVerb[];
  readonly watches?: readonly WatchDeclaration[];
  readonly triggers?: readonly Trigger[];
  /**
   * The namespaces that it watches. Defaults to all. With a label selector, the controller reconciles the objects of a
   * namespace that gets the labels, and ignores a namespace that loses them; caches then hold all namespaces.
   */
  readonly namespaces?: NamespaceScope;
  readonly labelSelector?: string;
  readonly when?: Predicate<T>;
  /**
   * Objects for which this returns true are ignored until they change: no run, no finalizer, no status, nothing on
   * deletion.
   */
  readonly ignores?: (object: Own) => boolean;
  /** Makes the initial `ctx.state` of each object, and its type. Defaults to an empty object. */
  readonly state?: () => State;
  /**
   * The objects of this kind that an object refers to, by name, or as `namespace/name`. They run first, never at the
   * same time, and the object runs again after them. New work on one of them cancels the object's run. Must be pure;
   * see `ctx.requireRefs`.
   */
  refs?(object: Own): readonly string[];
  /** Brings the world to the state that the object describes. Called many times: must be idempotent. */
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
  /**
   * Cleans up outside before the object is deleted; the controller sets a finalizer for this. Kubernetes deletes owned
   * children.
   */
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
   * Called instead of `reconcile` while the object is being deleted and another finalizer, or a grace period, keeps it.
   * Sets no finalizer. The status is still written. Without it, nothing happens then.
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
   * Cleans up what this process keeps of an object that is gone or no longer selected: caches, metrics. Sets no
   * finalizer, so it is not called for objects that go while no process runs. The key is not reconciled until it has
   * ended. May be called for an object that was never reconciled, and again if it throws: must be idempotent.
   */
  gone?(key: string, ctx: GoneContext): Promise<void> | void;
  /** Defaults to `setpoint.dev/NAME`. */
  readonly finalizer?: string;
  /**
   * `optional`: the controller also works if the installed definition has no conditions, and shows none. By default
   * that is a failure (`CONDITIONS_MISSING`). Other status fields that the definition lacks are dropped in both cases.
   */
  readonly conditions?: "required" | "optional";
  /** The field manager of its applies. Defaults to `setpoint-NAME`. */
  readonly fieldManager?: string;
  /**
   * How many objects to reconcile at once; never one object twice. Defaults to 4: enough to hide the latency of an API
   * server, few enough not to overload the systems behind a reconciler. 1 makes all runs sequential.
   */
  readonly concurrency?: number;
  readonly retry?: RetryPolicy;
  /** When to abort the signal of a run. Defaults to 5 minutes. */
  readonly timeout?: Duration;
  /**
   * Reconciles every object again after this long. Defaults to never: watches show changes, and retries and waits have
   * their own delays.
   */
  readonly resync?: Duration;
  /** Called for every failed run, retries included. Must not throw. */
  readonly onError?: (error: unknown, run: FailedRun) => void;
  /** Counters and gauges of its own. */
  readonly metrics?: readonly MetricSource[];
  /** The permissions beyond those of its declared kinds, for RBAC: to bind a role, to evict a pod. */
  readonly permissions?: readonly RbacRule[];
}

/** A declared controller: plain data, checked. `LiveController` runs it. */
export interface Controller<T extends KubeObject = KubeObject> {
  readonly type: "controller";
  readonly name: string;
  readonly kind: Kind<T>;
  readonly owns: readonly ScopedKind[];
  readonly uses: readonly ScopedKind[];
  readonly writes: readonly WriteVerb[];
  readonly watches: readonly WatchDeclaration[];
  readonly triggers: readonly Trigger[];
  /** The listed namespaces; undefined if it watches all, or follows labels. */
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
 * Declares a controller: one kind and its reconciler. Throws `CONTROLLER_INVALID` for an invalid declaration.
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
