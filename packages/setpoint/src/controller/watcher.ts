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

/** One thing that the watch showed of an object. */
export type WatchStep<T extends KubeObject = KubeObject> =
  | { readonly type: "add"; readonly object: T; readonly isInInitialList: boolean }
  | {
      readonly type: "update";
      readonly old: T;
      readonly object: T;
      /** There were more steps in between than are kept for one object: `old` is the last state that was shown. */
      readonly merged?: boolean;
    }
  /** Nothing changed: the object is shown again. */
  | { readonly type: "sync"; readonly object: T }
  | { readonly type: "delete"; readonly object: T | undefined; readonly finalStateUnknown: boolean };

/** What a watcher knows of the step that it handles. */
export interface WatchContext {
  readonly metrics: Metrics;
  readonly key: string;
  /** Aborted when the step must end, or has taken too long; for whoever reads it, also from the very end of the lease. */
  readonly signal: AbortSignal;
  /** 0 for a first try. */
  readonly attempt: number;
  readonly log: Logger;
  /** The object was there when the watcher came. */
  readonly isInInitialList: boolean;
  /** The delete was missed while disconnected: the object given is the last state known. */
  readonly finalStateUnknown: boolean;
  /** More updates came than are kept for an object that waits: this one stands for several, `old` for the last state shown. */
  readonly merged: boolean;
}

/** Says whether a new step of an object makes the pending retry of an earlier one pointless. */
export type SupersedePolicy = (pending: WatchStep, next: WatchStep) => boolean;

export interface WatcherOptions<T extends KubeObject> {
  /** For metrics and logs. Defaults to the plural of the kind. */
  readonly name?: string;
  /** `"all"`, which is the default, or these. None by label: of a namespace that loses it, no delete would be seen. */
  readonly namespaces?: "all" | readonly string[];
  readonly labelSelector?: string;
  add?(object: T, ctx: WatchContext): unknown;
  update?(object: T, old: T, ctx: WatchContext): unknown;
  /** With a finalizer, called before the object goes; without, afterwards. */
  delete?(object: T, ctx: WatchContext): unknown;
  /**
   * The object was seen before: by a resync, or by a process that went on after a restart, which a finalizer tells. In its
   * place `update` is called for the one, with the object as both its states, and `add` for the other.
   */
  sync?(object: T, ctx: WatchContext): unknown;
  /** Failed steps are tried again by this policy, then reported as given up. Defaults to that of controllers. */
  readonly retry?: RetryPolicy;
  /** Defaults to {@link opinionatedSupersede}. */
  readonly supersedes?: SupersedePolicy;
  /** Holds objects until `delete` is done, and marks those whose `add` is not yet: what makes a delete unmissable. */
  readonly finalizer?: string;
  /** How many objects are handled at once; steps of one object always follow each other. Defaults to 4. */
  readonly concurrency?: number;
  readonly resync?: Duration;
  /**
   * A step that takes longer is aborted and counts as failed. One that goes on all the same is reported as hung: no other
   * step of its object is begun until it ends, those of other objects are. Defaults to 5 minutes.
   */
  readonly timeout?: Duration;
  readonly onError?: (error: unknown, step: FailedStep) => void;
  /** Counters and gauges of its own. */
  readonly metrics?: readonly MetricSource[];
  /** What it needs beyond the kinds that it declares, for RBAC: to bind a role, to evict a pod. */
  readonly permissions?: readonly RbacRule[];
}

export interface FailedStep {
  readonly watcher: string;
  readonly key: string;
  readonly type: WatchStep["type"];
  readonly attempt: number;
  /** No retry follows. */
  readonly givenUp: boolean;
}

/** A watcher as declared: plain data, checked. `LiveWatcher` brings it to life. */
export interface Watcher<T extends KubeObject = KubeObject> {
  readonly type: "watcher";
  readonly name: string;
  readonly kind: Kind<T>;
  readonly options: WatcherOptions<T>;
  readonly finalizer: string | undefined;
  /** On objects whose `add` has begun and not ended. */
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
 * Declares a watcher: it sees every step that the watch delivers, in the order of each object. For those who need events;
 * what follows from the state of an object belongs into a controller.
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
 * A delete makes every retry pointless. Otherwise a step of another type, or of the same generation, says nothing about
 * the failed one: its retry stays.
 */
export const opinionatedSupersede: SupersedePolicy = (pending, next) => {
  if (next.type === "delete") return true;
  if (pending.type !== next.type) return false;
  return pending.object?.metadata.generation !== next.object.metadata.generation;
};

/** Every new step of an object ends the retries of earlier ones. */
export const supersedeAll: SupersedePolicy = () => true;
