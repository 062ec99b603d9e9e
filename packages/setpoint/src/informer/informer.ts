import type { Duration } from "../clock/duration.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { ListSelection } from "./store/selection.js";

/**
 * One list and watch of a kind in a scope, its store and its indexes, shared by all who use it.
 *
 * Reads never do I/O. Objects are readonly, and frozen in development and tests. After a write was given to `observe`,
 * reads are at least as new as it.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly scope: InformerScope;
  /** Computed when asked: for health output and timeout messages. */
  status(): InformerStatus;
  /** Resolves once the store holds the initial list; rejects when `signal` is aborted, naming the last error. */
  synced(signal?: AbortSignal): Promise<void>;

  /** `key` is `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  has(key: string): boolean;
  /**
   * In no promised order. The objects of a whole store or namespace are parsed one by one as they are asked for; those
   * that a selector matches are found by an index over its fields.
   */
  list(selection?: ListSelection): Iterable<T>;
  keys(namespace?: string): Iterable<string>;
  /** The objects for which the index function returned `value`. */
  byIndex(index: string, value: string): Iterable<T>;
  /**
   * Adds an index over what is there and what comes; adding the same function under the same name again is harmless. Names
   * are each share's own. Throws `INFORMER_INDEX_TAKEN` for another function.
   */
  addIndex(name: string, values: IndexFunction<T>): void;

  /**
   * Calls the handler for what the store holds now (`isInInitialList`), then for every step the watch delivers, in
   * order. Disposing the registration ends the calls.
   */
  addHandler(handler: InformerHandler<T>, options?: HandlerOptions): HandlerRegistration;

  /**
   * Tells the informer the server's answer to an own write: it goes into the store at once, handlers included, and no
   * older event replaces it.
   */
  observe(written: T): void;
  /**
   * Tells the informer of an own delete whose answer carried no object. Resolves when the store has seen it, or the
   * wait expired (`expired: true`, counted and reported).
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
  /** Bytes that the store keeps for this kind. */
  readonly bytes: number;
  /** Steps not yet taken by the slowest handler. */
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
      /** True where nothing changed: the periodic resync. */
      readonly isResync: boolean;
      /** True where a slow handler's steps were merged: `old` is the last state that it saw. */
      readonly merged: boolean;
    }
  | {
      readonly type: "delete";
      readonly key: string;
      /** The last state known; absent only where the store had lost the body. */
      readonly object?: T;
      readonly finalStateUnknown: boolean;
    };

export type InformerHandler<T extends KubeObject> = (event: InformerEvent<T>) => void | Promise<void>;

export interface HandlerOptions {
  /** Calls the handler again for every object after this long (with jitter). Defaults to never. */
  readonly resync?: Duration;
  /** Steps kept for one key before they are merged. Defaults to 64. */
  readonly maxStepsPerKey?: number;
}

export interface HandlerRegistration extends Disposable {
  /** Resolves when this handler has returned from every event of its initial list. */
  readonly synced: Promise<void>;
}
