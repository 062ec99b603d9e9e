import type { Duration } from "../clock/duration.js";
import type { Kind } from "../kinds/kind.js";
import type { ApplyConfiguration, JsonObject, KubeObject, NewObject } from "../kinds/object.js";
import type { Fence } from "../loop/fence.js";
import type { Discovery } from "./discovery.js";
import type { TransportRequest, TransportResponse } from "./transport/transport.js";

/**
 * Typed requests to one API server. A client has no cache and no module state; a process may have several, one for each
 * cluster or identity. Every call takes an `AbortSignal`, and rejects with an `ApiError` for an error response of the
 * server, or a `SetpointError` of the transport.
 */
export interface Client extends AsyncDisposable {
  /** For messages and metrics: the server's address, never a credential. */
  readonly server: string;
  /** The namespace of the kubeconfig's context, or of the pod; else `default`. No call uses it unless told to. */
  readonly namespace: string;

  get<T extends KubeObject>(kind: Kind<T>, name: string, options?: GetOptions): Promise<T>;
  /** As {@link get}, but `undefined` if the object does not exist. */
  find<T extends KubeObject>(kind: Kind<T>, name: string, options?: GetOptions): Promise<T | undefined>;
  /** One page, or all pages without a `limit`. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * Every object, page by page, on one consistent snapshot. If the snapshot expires between two pages (the server keeps
   * it for some minutes), rejects with `API_EXPIRED`: start again, because the rest would come from another snapshot.
   * Pages have 500 objects unless `limit` says otherwise.
   */
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncIterable<ObjectList<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: NewObject<T>, options?: WriteOptions): Promise<T>;
  /** Replaces the object. Fails with a conflict if its resourceVersion is not the newest. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions & SubresourceOption): Promise<T>;
  patch<T extends KubeObject>(kind: Kind<T>, name: string, patch: Patch, options?: PatchOptions): Promise<T>;
  /** Server-side apply. `fieldManager` defaults to that of the client. */
  apply<T extends KubeObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options?: ApplyOptions): Promise<T>;
  /** Resolves to the object if the server returns it (finalizers, grace period), otherwise to undefined. */
  delete<T extends KubeObject>(kind: Kind<T>, name: string, options?: DeleteOptions): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(kind: Kind<T>, options?: ListOptions & DeleteOptions): Promise<void>;
  /** The events of one watch, until the server closes it. For a watch that continues, use an informer. */
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;

  /** Reads any subresource (`scale`, `status`) of an object. */
  getSubresource<S>(kind: Kind, name: string, request: GetOptions & { readonly subresource: string }): Promise<S>;
  /** POSTs to a subresource (`token`, `eviction`, `binding`). */
  createSubresource<S>(kind: Kind, name: string, request: SubresourceWrite): Promise<S>;
  /** PUTs a subresource (`scale`, `approval`, `finalize`). */
  updateSubresource<S>(kind: Kind, name: string, request: SubresourceWrite): Promise<S>;
  /** The text of a pod's log, in chunks. With `follow`, until the container ends or the signal is aborted. */
  logs(pod: string, options: LogOptions): AsyncIterable<string>;

  /** What the server serves: groups, versions, resources and their verbs. */
  discover(options?: CallOptions): Promise<Discovery>;
  /**
   * A request with this client's credentials, with retries unless `retry` is false. An error status is a response, not
   * a rejection. The caller must read or `drain` the body.
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

/** The defaults that {@link Client.with} sets for every call. */
export interface ClientDefaults {
  readonly signal?: AbortSignal;
  /**
   * Checked right before each request is sent, retries included. Without another signal, `fence.lost` aborts requests
   * in flight.
   */
  readonly fence?: Fence;
  /**
   * The server validates every write and stores nothing. `raw` rejects with `EFFECT_NOT_RUN` for all methods but GET
   * and HEAD.
   */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface RawRequest extends Omit<TransportRequest, "headers"> {
  readonly headers?: TransportRequest["headers"];
  /** False returns 429, 503 and broken connections at once, for callers with their own back-off. */
  readonly retry?: boolean;
  /** How long the response headers may take. Defaults to the client's limit; 0 for no limit. */
  readonly headTimeout?: Duration;
  /** The verb in metrics. Defaults to the method in lower case, without a kind. */
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

/** One request with its response or failure: for metrics. Each retry is reported. */
export interface ObservedRequest {
  readonly verb: RequestVerb;
  /** `Pod`; empty for a request to no kind. */
  readonly kind: string;
  readonly subresource: string;
  /** `GET`. */
  readonly method: string;
  /** Of the server, with its port. */
  readonly host: string;
  /** The HTTP status, or 0 if there is no response: then `error` says why. */
  readonly status: number;
  readonly error?: string;
  /** The time until the response headers. */
  readonly durationMs: number;
  /** 1 for the first attempt. */
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
  /** Defaults to all namespaces. */
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

/** A write to a subresource: `{ subresource: "eviction", body: {}, namespace: "shop" }`. */
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
  /** Defaults to `Ignore`, which costs the server least. The server refuses an apply with unknown fields in any case. */
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
   * Rejects with `TRANSPORT_TIMEOUT` if the server sends nothing for this long. With bookmarks a server sends something
   * about every minute. Defaults to no limit: the transport probes connections itself.
   */
  readonly idleTimeout?: Duration;
  /** Rejects with `STREAM_LINE_TOO_LONG` for a longer event. Defaults to 64 MiB. */
  readonly maxLineBytes?: number;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Has only a resourceVersion, and the annotation that ends the initial events. */
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
