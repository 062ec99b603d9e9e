import { type Duration, parseDuration } from "../clock/duration.js";
import { SetpointError } from "../errors/error.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { Logger } from "../loop/logger.js";
import { type RetryPolicy, type RetryTimes, retryTimes } from "../loop/retry-policy.js";
import { checkDeclaration, optionalFunctions } from "./declaration-check.js";
import type { MetricSource, Metrics } from "./metric-source.js";
import type { RbacRule } from "./rbac-rule.js";
import { checkFinalizerName } from "./run/finalizer.js";

/** One event of an object's watch. */
export type WatchStep<T extends KubeObject = KubeObject> =
  | { readonly type: "add"; readonly object: T; readonly isInInitialList: boolean }
  | {
      readonly type: "update";
      readonly old: T;
      readonly object: T;
      /** Steps in between were merged because there were too many: `old` is the last state that was delivered. */
      readonly merged?: boolean;
    }
  /** Nothing changed: the object is delivered again. */
  | { readonly type: "sync"; readonly object: T }
  | { readonly type: "delete"; readonly object: T | undefined; readonly finalStateUnknown: boolean };

/** The context of a watcher's step. */
export interface WatchContext {
  readonly metrics: Metrics;
  readonly key: string;
  /** Aborted when the step must end or has taken too long, and when the lease ends. */
  readonly signal: AbortSignal;
  /** 0 for the first attempt. */
  readonly attempt: number;
  readonly log: Logger;
  /** The object existed when the watcher started. */
  readonly isInInitialList: boolean;
  /** The delete was missed while disconnected: the object is the last known state. */
  readonly finalStateUnknown: boolean;
  /** Several updates of a waiting object were merged into this one; `old` is the last state that was delivered. */
  readonly merged: boolean;
}

/** Whether a new step of an object makes the pending retry of an earlier one obsolete. */
export type SupersedePolicy = (pending: WatchStep, next: WatchStep) => boolean;

export interface WatcherOptions<T extends KubeObject> {
  /** For metrics and logs. Defaults to the plural of the kind. */
  readonly name?: string;
  /** `"all"`, which is the default, or these. None by label: of a namespace that loses it, no delete would be seen. */
  readonly namespaces?: "all" | readonly string[];
  readonly labelSelector?: string;
  add?(object: T, ctx: WatchContext): unknown;
  update?(object: T, old: T, ctx: WatchContext): unknown;
  /** With a finalizer, called before the object is deleted; without one, afterwards. */
  delete?(object: T, ctx: WatchContext): unknown;
  /**
   * The object was seen before: by a resync, or, with a finalizer, by a process before a restart. Without `sync`, a
   * resync calls `update` with the object as both states, and a restart calls `add`.
   */
  sync?(object: T, ctx: WatchContext): unknown;
  /** Failed steps are retried by this policy, then reported as given up. Defaults to that of controllers. */
  readonly retry?: RetryPolicy;
  /** Defaults to {@link opinionatedSupersede}. */
  readonly supersedes?: SupersedePolicy;
  /** Keeps objects until `delete` is done, and marks those whose `add` is not done yet. With it, no delete is missed. */
  readonly finalizer?: string;
  /** How many objects to handle at once; steps of one object are always sequential. Defaults to 4. */
  readonly concurrency?: number;
  readonly resync?: Duration;
  /**
   * A step that takes longer is aborted and counts as failed. If it continues anyway, it is reported as hung: no other
   * step of its object starts until it ends. Other objects are not affected. Defaults to 5 minutes.
   */
  readonly timeout?: Duration;
  readonly onError?: (error: unknown, step: FailedStep) => void;
  /** Counters and gauges of its own. */
  readonly metrics?: readonly MetricSource[];
  /** The permissions beyond those of its declared kinds, for RBAC: to bind a role, to evict a pod. */
  readonly permissions?: readonly RbacRule[];
}

export interface FailedStep {
  readonly watcher: string;
  readonly key: string;
  readonly type: WatchStep["type"];
  readonly attempt: number;
  /** True if no retry follows. */
  readonly givenUp: boolean;
}

/** A declared watcher: plain data, checked. `LiveWatcher` runs it. */
export interface Watcher<T extends KubeObject = KubeObject> {
  readonly type: "watcher";
  readonly name: string;
  readonly kind: Kind<T>;
  readonly options: WatcherOptions<T>;
  readonly finalizer: string | undefined;
  /** Set on objects whose `add` has started and not ended. */
  readonly inProgressFinalizer: string;
  readonly concurrency: number;
  readonly supersedes: SupersedePolicy;
  readonly retry: RetryTimes["backoff"];
  readonly maxAttempts: number;
  readonly resyncMs: number | undefined;
  readonly timeoutMs: number;
  readonly metrics: readonly MetricSource[];
  readonly permissions: readonly RbacRule[];
}

/**
 * Declares a watcher: it sees every step that the watch delivers, in order for each object. Use it only if you need
 * events; work that depends on the state of an object belongs in a controller.
 *
 * ```ts
 * const audit = watcher(Website, {
 *   add: (site) => journal.write("created", site.metadata.name),
 *   delete: (site) => journal.write("deleted", site.metadata.name),
 * });
 * ```
 */
export function watcher<T extends KubeObject>(kind: Kind<T>, options: WatcherOptions<NoInfer<T>>): Watcher<T> {
  checkDeclaration("watcher", kind, options, WATCHER_OPTIONS, WATCHER_FUNCTIONS);
  const name = options.name ?? kind.plural;
  const { concurrency = 4, retry = {} } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new SetpointError("CONTROLLER_INVALID", `watcher ${name}: concurrency is ${concurrency}, not 1 or more`);
  }
  const { backoff, maxAttempts } = retryTimes(retry, `watcher ${name}`);
  const inProgressFinalizer = `${options.finalizer ?? ""}-wip`;
  if (options.finalizer !== undefined) {
    checkFinalizerName(options.finalizer, name);
    checkFinalizerName(inProgressFinalizer, name);
  }
  return {
    type: "watcher",
    name,
    kind,
    options,
    finalizer: options.finalizer,
    inProgressFinalizer,
    concurrency,
    supersedes: options.supersedes ?? opinionatedSupersede,
    retry: backoff,
    maxAttempts,
    resyncMs: options.resync === undefined ? undefined : parseDuration(options.resync, `watcher ${name}: resync`),
    timeoutMs: parseDuration(options.timeout ?? "5m", `watcher ${name}: timeout`),
    metrics: options.metrics ?? [],
    permissions: options.permissions ?? [],
  };
}

const WATCHER_OPTIONS = {
  name: true,
  namespaces: true,
  labelSelector: true,
  add: true,
  update: true,
  delete: true,
  sync: true,
  retry: true,
  supersedes: true,
  finalizer: true,
  concurrency: true,
  resync: true,
  timeout: true,
  onError: true,
  metrics: true,
  permissions: true,
} as const satisfies Record<keyof WatcherOptions<KubeObject>, true>;

const WATCHER_FUNCTIONS = optionalFunctions("add", "update", "delete", "sync", "supersedes", "onError");

/**
 * A delete makes every retry obsolete. A step of another type, or of the same generation, says nothing about the failed
 * one: its retry stays.
 */
export const opinionatedSupersede: SupersedePolicy = (pending, next) => {
  if (next.type === "delete") return true;
  if (pending.type !== next.type) return false;
  return pending.object?.metadata.generation !== next.object.metadata.generation;
};

/** Every new step of an object cancels the retries of earlier ones. */
export const supersedeAll: SupersedePolicy = () => true;
