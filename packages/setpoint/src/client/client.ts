import type { Duration } from "../clock/duration.js";
import type { Kind } from "../kinds/kind.js";
import type { ApplyConfiguration, JsonObject, KubeObject, NewObject } from "../kinds/object.js";
import type { Fence } from "../loop/fence.js";
import type { Discovery } from "./discovery.js";
import type { TransportRequest, TransportResponse } from "./transport/transport.js";

/**
 * Typed requests to one API server. A client holds no cache and no module state; a process may have several, one for
 * each cluster or identity. Every call takes an `AbortSignal` and rejects with an `ApiError` for an error answer of
 * the server, or a `SetpointError` of the transport.
 */
export interface Client extends AsyncDisposable {
  /** For messages and metrics: the server's address, never a credential. */
  readonly server: string;
  /** The namespace of the kubeconfig's context, or of the pod; else `default`. No call uses it unless told to. */
  readonly namespace: string;

  get<T extends KubeObject>(kind: Kind<T>, name: string, options?: GetOptions): Promise<T>;
  /** As {@link get}, but `undefined` where the object is not there. */
  find<T extends KubeObject>(kind: Kind<T>, name: string, options?: GetOptions): Promise<T | undefined>;
  /** One page, or all where no `limit` is given. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * Every object, page by page, on one consistent snapshot. Where the snapshot expires between two pages (the server
   * keeps it for some minutes), rejects with `API_EXPIRED`: begin again, since what was read and what is to come no
   * longer fit together. Pages are of 500 unless `limit` says otherwise.
   */
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncIterable<ObjectList<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: NewObject<T>, options?: WriteOptions): Promise<T>;
  /** Replaces the object. Fails with a conflict if its resourceVersion is not the newest. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions & SubresourceOption): Promise<T>;
  patch<T extends KubeObject>(kind: Kind<T>, name: string, patch: Patch, options?: PatchOptions): Promise<T>;
  /** Server-side apply. `fieldManager` is the client's own unless given. */
  apply<T extends KubeObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options?: ApplyOptions): Promise<T>;
  /** Resolves to the object where the server returned one (finalizers, grace), else to undefined. */
  delete<T extends KubeObject>(kind: Kind<T>, name: string, options?: DeleteOptions): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(kind: Kind<T>, options?: ListOptions & DeleteOptions): Promise<void>;
  /** The events of one watch, until the server closes it. For a watch that goes on, use an informer. */
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;

  /** Reads any subresource (`scale`, `status`) of an object. */
  getSubresource<S>(kind: Kind, name: string, request: GetOptions & { readonly subresource: string }): Promise<S>;
  /** POSTs to a subresource (`token`, `eviction`, `binding`). */
  createSubresource<S>(kind: Kind, name: string, request: SubresourceWrite): Promise<S>;
  /** PUTs a subresource (`scale`, `approval`, `finalize`). */
  updateSubresource<S>(kind: Kind, name: string, request: SubresourceWrite): Promise<S>;
  /** The text of a pod's log, in chunks; with `follow` until the container ends or the signal is aborted. */
  logs(pod: string, options: LogOptions): AsyncIterable<string>;

  /** What the server serves: groups, versions, resources and their verbs. */
  discover(options?: CallOptions): Promise<Discovery>;
  /**
   * A request with this client's credentials, retries included unless `retry` is false; an error status is an answer,
   * not a rejection. The body is the caller's to read or to `drain`.
   */
  raw(request: RawRequest): Promise<TransportResponse>;

  /**
   * The same client with other defaults for each call, on the same connections. Disposing the result does nothing: the
   * connections belong to this client.
   *
   * ```ts
   * const trial = client.with({ dryRun: true }); // the server checks writes and keeps nothing
   * ```
   */
  with(defaults: ClientDefaults): Client;
}

/** What {@link Client.with} sets for every call that does not say otherwise. */
export interface ClientDefaults {
  readonly signal?: AbortSignal;
  /**
   * Checked right before each request is sent, also one that is retried or has waited for its connection. Where no other
   * signal is given, `fence.lost` aborts requests in flight.
   */
  readonly fence?: Fence;
  /** The server checks every write and keeps nothing. `raw` rejects with `EFFECT_NOT_RUN` for all but GET and HEAD. */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface RawRequest extends Omit<TransportRequest, "headers"> {
  readonly headers?: TransportRequest["headers"];
  /** False hands out 429, 503 and broken connections at once, for callers with a back-off of their own. */
  readonly retry?: boolean;
  /** How long the response's head may take. Defaults to the client's; 0 for no limit. */
  readonly headTimeout?: Duration;
  /** What metrics call it. Defaults to the method in lower case, without a kind. */
  readonly verb?: RequestVerb;
  readonly kind?: Kind;
  readonly subresource?: string;
}

export type RequestVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "apply"
  | "delete"
  | "deletecollection"
  | "head"
  | "post"
  | "put"
  | "options"
  | "connect"
  | "trace";

/** One request as it was answered, or failed: for metrics. Retries are reported each. */
export interface ObservedRequest {
  readonly verb: RequestVerb;
  /** `Pod`; empty for a request to no kind. */
  readonly kind: string;
  readonly subresource: string;
  /** `GET`. */
  readonly method: string;
  /** Of the server, with its port. */
  readonly host: string;
  /** The HTTP status, or 0 where none came: then `error` says why. */
  readonly status: number;
  readonly error?: string;
  /** To the response's head. */
  readonly durationMs: number;
  /** 1 for the first try. */
  readonly attempt: number;
}

export interface GetOptions extends CallOptions {
  readonly namespace?: string;
  readonly resourceVersion?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ListOptions extends CallOptions {
  /** All namespaces where left out. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WriteOptions extends CallOptions {
  /** Defaults to the object's own namespace. */
  readonly namespace?: string;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  readonly dryRun?: boolean;
}

export interface SubresourceOption {
  readonly subresource?: string;
}

/** What is written to a subresource: `{ subresource: "eviction", body: {}, namespace: "shop" }`. */
export interface SubresourceWrite extends WriteOptions {
  readonly subresource: string;
  readonly body: JsonObject;
}

export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: "merge"; readonly body: JsonObject }
  | { readonly type: "strategic"; readonly body: JsonObject };

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

export interface PatchOptions extends WriteOptions, SubresourceOption {}

export interface ApplyOptions extends WriteOptions, SubresourceOption {
  readonly force?: boolean;
  /**
   * Defaults to `Ignore`, which costs a server the least: an apply that states an unknown field is refused whatever is
   * said here.
   */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface DeleteOptions extends CallOptions {
  readonly namespace?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface WatchOptions extends Omit<ListOptions, "limit" | "continue"> {
  readonly allowBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  /**
   * Rejects with `TRANSPORT_TIMEOUT` where the server sends nothing for so long. With bookmarks a server is heard from
   * about every minute. Defaults to never: connections are probed below this level.
   */
  readonly idleTimeout?: Duration;
  /** Rejects with `STREAM_LINE_TOO_LONG` for a longer event. Defaults to 64 MiB. */
  readonly maxLineBytes?: number;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Carries no more than a resourceVersion (and the annotation that ends the initial events). */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface LogOptions extends CallOptions {
  readonly namespace: string;
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly timestamps?: boolean;
}
