import type { Duration } from "../clock/duration.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { ListSelection } from "./store/selection.js";

/**
 * One list and watch of a kind in a scope, with its store and indexes, shared by all users.
 *
 * Reads never do I/O. Objects are readonly, and frozen in development and tests. After a write was passed to `observe`,
 * reads are at least as new as it.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly scope: InformerScope;
  /** Computed on each call: for health output and timeout messages. */
  status(): InformerStatus;
  /** Resolves once the store has the initial list; rejects when `signal` is aborted, with the last error. */
  synced(signal?: AbortSignal): Promise<void>;

  /** `key` is `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  has(key: string): boolean;
  /**
   * In no particular order. The objects of a whole store or namespace are parsed one by one on access; those that match
   * a selector are found by an index over its fields.
   */
  list(selection?: ListSelection): Iterable<T>;
  keys(namespace?: string): Iterable<string>;
  /** The objects for which the index function returned `value`. */
  byIndex(index: string, value: string): Iterable<T>;
  /**
   * Adds an index over existing and future objects. Adding the same function under the same name again is harmless.
   * Each share has its own index names. Throws `INFORMER_INDEX_TAKEN` for another function.
   */
  addIndex(name: string, values: IndexFunction<T>): void;

  /**
   * Calls the handler for the current objects (`isInInitialList`), then for every step that the watch delivers, in
   * order. Disposing the registration ends the calls.
   */
  addHandler(handler: InformerHandler<T>, options?: HandlerOptions): HandlerRegistration;

  /** Stores the server's response to an own write at once, and calls handlers. No older event replaces it. */
  observe(written: T): void;
  /**
   * Reports an own delete whose response had no object. Resolves when the store has seen the delete, or when the wait
   * expires (`expired: true`, counted and reported).
   */
  observeDelete(key: string, uid: string, signal?: AbortSignal): Promise<{ readonly expired: boolean }>;
}

export interface InformerScope {
  /** `"all"`, which is the default, or these. */
  readonly namespaces?: "all" | readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The namespaces that a scope names, each once; undefined where it is all of them. */
export function namedIn({ namespaces = "all" }: InformerScope): readonly string[] | undefined {
  return namespaces === "all" ? undefined : [...new Set(namespaces)];
}

export type InformerPhase = "waiting-for-kind" | "listing" | "watching" | "backing-off" | "stopped";

export interface InformerStatus {
  readonly phase: InformerPhase;
  readonly synced: boolean;
  readonly lastResourceVersion: string;
  readonly lastError?: { readonly code: string; readonly message: string; readonly at: string };
  readonly objects: number;
  /** Bytes that the store uses for this kind. */
  readonly bytes: number;
  /** Events that the slowest handler has not processed yet. */
  readonly backlog: number;
}

export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** An event for a handler. A delete that was missed while disconnected has `finalStateUnknown`. */
export type InformerEvent<T extends KubeObject> =
  | { readonly type: "add"; readonly key: string; readonly object: T; readonly isInInitialList: boolean }
  | {
      readonly type: "update";
      readonly key: string;
      readonly old: T;
      readonly object: T;
      /** True if nothing changed: the periodic resync. */
      readonly isResync: boolean;
      /** True if steps of a slow handler were merged: `old` is the last state that it saw. */
      readonly merged: boolean;
    }
  | {
      readonly type: "delete";
      readonly key: string;
      /** The last known state; absent only if the store had lost the body. */
      readonly object?: T;
      readonly finalStateUnknown: boolean;
    };

export type InformerHandler<T extends KubeObject> = (event: InformerEvent<T>) => void | Promise<void>;

export interface HandlerOptions {
  /** Calls the handler again for every object after this long, with jitter. Defaults to never. */
  readonly resync?: Duration;
  /** How many steps of one key to keep before they are merged. Defaults to 64. */
  readonly maxStepsPerKey?: number;
}

export interface HandlerRegistration extends Disposable {
  /** Resolves when this handler has returned from every event of its initial list. */
  readonly synced: Promise<void>;
}
