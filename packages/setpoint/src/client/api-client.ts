import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { SetpointError } from "../errors/error.js";
import { type Kind, kindId } from "../kinds/kind.js";
import type { ApplyConfiguration, KubeObject, NewObject } from "../kinds/object.js";
import type { Fence } from "../loop/fence.js";
import { apiCall, PATCH_TYPES } from "./api-call.js";
import { apiErrorOf, isNotFound } from "./api-error.js";
import { apiPath, type QueryValue, queryOf } from "./api-path.js";
import { deleteBody, listQuery, watchQuery } from "./api-query.js";
import type {
  ApplyOptions,
  CallOptions,
  Client,
  ClientDefaults,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  ObjectList,
  ObservedRequest,
  Patch,
  PatchOptions,
  RawRequest,
  SubresourceOption,
  SubresourceWrite,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.js";
import { anonymous, type Credentials } from "./cluster/credentials.js";
import { type Discovery, discover } from "./discovery.js";
import { type OutgoingRequest, RequestSender } from "./request-sender.js";
import { nameOfRequest, type RequestSummary } from "./request-summary.js";
import { type RetryOptions, retryAfterMs } from "./retry.js";
import { isStatus } from "./status.js";
import { isComplete, readJson } from "./transport/body.js";
import { withSilenceLimit } from "./transport/silence.js";
import type { Transport, TransportResponse } from "./transport/transport.js";
import type { WarnedRequest } from "./warned-request.js";
import { watchEvents } from "./watch-stream.js";

export interface ClientOptions {
  readonly transport: Transport;
  /** For messages and metrics. */
  readonly server: string;
  /** The value of `client.namespace`. Defaults to `default`. */
  readonly namespace?: string;
  readonly credentials?: Credentials;
  /** The owner of the fields that this client writes. Defaults to `setpoint`. */
  readonly fieldManager?: string;
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly retry?: RetryOptions;
  /**
   * How long the server may take to send the response headers, and how long a body that is not a stream may pause.
   * Defaults to 90 seconds, above the server's own limit; 0 for no limit.
   */
  readonly headTimeout?: Duration;
  /** Called for each request when its response headers, or its failure, arrive. Must not throw. */
  readonly observer?: (request: ObservedRequest) => void;
  /** Called with each warning of the server and its request, once per text and kind. */
  readonly onWarning?: (warning: string, request: WarnedRequest) => void;
}

/**
 * A client on any transport. It owns the transport: disposing the one disposes the other.
 *
 * ```ts
 * await using client = createClient({ transport: http1Transport({ server, clock: systemClock }), server });
 * const pod = await client.get(Pod, "web-0", { namespace: "default" });
 * ```
 */
export function createClient(options: ClientOptions): Client {
  return new ApiClient(connectionOf(options), { fieldManager: options.fieldManager ?? "setpoint" }, true);
}

const DEFAULT_PAGE_SIZE = 500;
/** Above the server's own limit of one minute. */
const DEFAULT_TIMEOUT: Duration = "90s";

/** What a client and those derived from it share. */
interface Connection {
  readonly server: string;
  readonly namespace: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly sender: RequestSender;
  readonly silenceMs: number;
}

function connectionOf(options: ClientOptions): Connection {
  const { server, transport, clock = systemClock, namespace = "default" } = options;
  const silenceMs = parseDuration(options.headTimeout ?? DEFAULT_TIMEOUT, "headTimeout");
  const sender = new RequestSender({
    transport,
    host: URL.canParse(server) ? new URL(server).host : server,
    clock,
    random: options.random ?? systemRandom,
    credentials: options.credentials ?? anonymous,
    userAgent: options.userAgent ?? "setpoint",
    headTimeoutMs: silenceMs,
    retry: options.retry ?? {},
    observer: options.observer,
    onWarning: options.onWarning,
  });
  return { server, namespace, transport, clock, sender, silenceMs };
}

class ApiClient implements Client {
  readonly server: string;
  readonly namespace: string;
  readonly #connection: Connection;
  readonly #defaults: ClientDefaults;
  /** False for a derived client, which does not dispose the transport. */
  readonly #ownsTransport: boolean;

  constructor(connection: Connection, defaults: ClientDefaults, ownsTransport: boolean) {
    this.server = connection.server;
    this.namespace = connection.namespace;
    this.#connection = connection;
    this.#defaults = defaults;
    this.#ownsTransport = ownsTransport;
  }

  with(defaults: ClientDefaults): Client {
    const fence = bothFences(this.#defaults.fence, defaults.fence);
    return new ApiClient(this.#connection, { ...this.#defaults, ...defaults, ...(fence ? { fence } : {}) }, false);
  }

  async get<T extends KubeObject>(kind: Kind<T>, name: string, options: GetOptions = {}): Promise<T> {
    const { namespace, resourceVersion } = options;
    const path = apiPath(kind, { namespace, name, query: { resourceVersion } });
    return this.#object(kind, apiCall("get", kind, path, options));
  }

  async find<T extends KubeObject>(kind: Kind<T>, name: string, options?: GetOptions): Promise<T | undefined> {
    try {
      return await this.get(kind, name, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const path = apiPath(kind, { namespace: options.namespace, query: listQuery(options) });
    const body = await this.#json(apiCall("list", kind, path, options));
    const { items, metadata } = body as { items?: T[] | null; metadata?: ObjectListMetadata };
    if (!metadata || (items !== null && !Array.isArray(items)))
      throw unexpected({ method: "GET", path }, `${kind.kind}List`, body);
    return {
      items: (items ?? []).map((item) => named(kind, item)),
      resourceVersion: metadata.resourceVersion ?? "",
      ...(metadata.continue ? { continue: metadata.continue } : {}),
      ...(metadata.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
    };
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<ObjectList<T>, void> {
    const limit = options.limit ?? DEFAULT_PAGE_SIZE;
    let page = await this.list(kind, { ...options, limit });
    yield page;
    while (page.continue) {
      // The token includes the snapshot: the server refuses a request that also has a resourceVersion.
      const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
      page = await this.list(kind, { ...rest, limit, continue: page.continue });
      yield page;
    }
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: NewObject<T>, options: WriteOptions = {}): Promise<T> {
    const namespace = this.#namespaceOf(kind, object.metadata, options);
    const path = apiPath(kind, { namespace, query: this.#writeQuery(options) });
    return this.#object(kind, apiCall("create", kind, path, options, typed(kind, object)));
  }

  async update<T extends KubeObject>(
    kind: Kind<T>,
    object: T,
    options: WriteOptions & SubresourceOption = {},
  ): Promise<T> {
    const { subresource } = options;
    const namespace = this.#namespaceOf(kind, object.metadata, options);
    const query = this.#writeQuery(options);
    const path = apiPath(kind, { namespace, name: nameOf(kind, object.metadata), subresource, query });
    return this.#object(kind, apiCall("update", kind, path, options, typed(kind, object)));
  }

  async patch<T extends KubeObject>(kind: Kind<T>, name: string, patch: Patch, options: PatchOptions = {}): Promise<T> {
    const { namespace, subresource } = options;
    const path = apiPath(kind, { namespace, name, subresource, query: this.#writeQuery(options) });
    const body = patch.type === "json" ? patch.operations : patch.body;
    return this.#object(kind, apiCall("patch", kind, path, options, body, PATCH_TYPES[patch.type]));
  }

  async apply<T extends KubeObject>(
    kind: Kind<T>,
    object: ApplyConfiguration<T>,
    options: ApplyOptions = {},
  ): Promise<T> {
    const { subresource, force } = options;
    const metadata = (object.metadata ?? {}) as { name?: string; namespace?: string };
    const namespace = this.#namespaceOf(kind, metadata, options);
    // Field validation of an apply makes the server parse the body again to find duplicate keys. Our bodies have none,
    // and the server refuses unknown fields anyway.
    const query = this.#writeQuery(options, options.fieldValidation ?? "Ignore", force);
    const path = apiPath(kind, { namespace, name: nameOf(kind, metadata), subresource, query });
    return this.#object(kind, apiCall("apply", kind, path, options, typed(kind, object), PATCH_TYPES.apply));
  }

  async delete<T extends KubeObject>(kind: Kind<T>, name: string, options: DeleteOptions = {}): Promise<T | undefined> {
    const path = apiPath(kind, { namespace: options.namespace, name });
    const body = await this.#json(apiCall("delete", kind, path, options, deleteBody(this.#deletion(options))));
    return isStatus(body) ? undefined : named(kind, body as unknown as T);
  }

  async deleteCollection<T extends KubeObject>(
    kind: Kind<T>,
    options: ListOptions & DeleteOptions = {},
  ): Promise<void> {
    const path = apiPath(kind, { namespace: options.namespace, query: listQuery(options) });
    await this.#json(apiCall("deletecollection", kind, path, options, deleteBody(this.#deletion(options))));
  }

  async *watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>, void> {
    const { idleTimeout, maxLineBytes } = options;
    const idleMs = idleTimeout === undefined ? 0 : parseDuration(idleTimeout, "idleTimeout");
    const path = apiPath(kind, { namespace: options.namespace, query: watchQuery(options) });
    const response = await this.#stream(apiCall("watch", kind, path, options));
    const body = idleMs > 0 ? withSilenceLimit(response.body, this.#connection.clock, idleMs) : response.body;
    yield* watchEvents<T>({ method: "GET", path }, body, { maxLineBytes });
  }

  async getSubresource<S>(
    kind: Kind,
    name: string,
    request: GetOptions & { readonly subresource: string },
  ): Promise<S> {
    const { namespace, resourceVersion, subresource } = request;
    const path = apiPath(kind, { namespace, name, subresource, query: { resourceVersion } });
    return (await this.#json(apiCall("get", kind, path, request))) as S;
  }

  async createSubresource<S>(kind: Kind, name: string, request: SubresourceWrite): Promise<S> {
    return (await this.#json(this.#subresourceCall("create", kind, name, request))) as S;
  }

  async updateSubresource<S>(kind: Kind, name: string, request: SubresourceWrite): Promise<S> {
    return (await this.#json(this.#subresourceCall("update", kind, name, request))) as S;
  }

  async *logs(pod: string, options: LogOptions): AsyncGenerator<string, void> {
    const { namespace, signal, ...query } = options;
    const path = `${apiPath(PODS, { namespace, name: pod, subresource: "log" })}${queryOf(query)}`;
    // With `follow`, the response headers come with the first byte, whenever that is.
    const limit = options.follow ? { headTimeout: 0 } : {};
    const call = apiCall("get", PODS, path, { signal, subresource: "log" });
    const response = await this.#stream({ ...call, ...limit, headers: { accept: "*/*" } });
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      const text = decoder.decode(chunk, { stream: true });
      if (text) yield text;
    }
    const rest = decoder.decode();
    if (rest) yield rest;
  }

  discover(options?: CallOptions): Promise<Discovery> {
    return discover(this, options);
  }

  async raw(request: RawRequest): Promise<TransportResponse> {
    if (this.#defaults.dryRun && request.method !== "GET" && request.method !== "HEAD")
      throw new SetpointError("EFFECT_NOT_RUN", `${nameOfRequest(request)} is not sent in a dry run`);
    return this.#connection.sender.send(this.#withDefaults(request));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ownsTransport) await this.#connection.transport[Symbol.asyncDispose]();
  }

  #withDefaults<Request extends RawRequest>(request: Request): Request {
    const { signal = this.#defaults.fence?.lost, fence } = this.#defaults;
    if (!signal && !fence) return request;
    const beforeSend = fence ? () => fence.check() : request.beforeSend;
    return { ...request, signal: request.signal ?? signal, beforeSend };
  }

  #subresourceCall(verb: "create" | "update", kind: Kind, name: string, request: SubresourceWrite): OutgoingRequest {
    const { namespace, subresource, body } = request;
    const path = apiPath(kind, { namespace, name, subresource, query: this.#writeQuery(request) });
    return apiCall(verb, kind, path, request, body);
  }

  #writeQuery(
    options: WriteOptions,
    fieldValidation = options.fieldValidation,
    force?: boolean,
  ): Record<string, QueryValue> {
    const fieldManager = options.fieldManager ?? this.#defaults.fieldManager;
    const dryRun = this.#defaults.dryRun || options.dryRun ? "All" : undefined;
    return { fieldManager, fieldValidation, dryRun, force };
  }

  #deletion(options: DeleteOptions): DeleteOptions {
    return this.#defaults.dryRun ? { ...options, dryRun: true } : options;
  }

  #namespaceOf(kind: Kind, metadata: { readonly namespace?: string }, options: WriteOptions): string | undefined {
    const namespace = options.namespace ?? metadata.namespace;
    if (kind.scope === "Namespaced" && !namespace) {
      throw new SetpointError("REQUEST_INVALID", `${kindId(kind)}: metadata.namespace is missing`);
    }
    return namespace;
  }

  async #object<T extends KubeObject>(kind: Kind<T>, request: OutgoingRequest): Promise<T> {
    const body = await this.#json(request);
    if (!body.metadata || isStatus(body)) throw unexpected(request, kind.kind, body);
    return named(kind, body as unknown as T);
  }

  async #json(request: OutgoingRequest): Promise<Record<string, unknown>> {
    const body = await this.#connection.sender.exchange(this.#withDefaults(request), async (response) =>
      readJson(request, this.#audible(await this.#accepted(request, response))),
    );
    if (typeof body !== "object" || body === null) throw unexpected(request, "an object", body);
    return body as Record<string, unknown>;
  }

  /** The response of a stream; rejects if it is an error. */
  async #stream(request: OutgoingRequest): Promise<TransportResponse> {
    return this.#accepted(request, await this.#connection.sender.send(this.#withDefaults(request)));
  }

  async #accepted(request: OutgoingRequest, response: TransportResponse): Promise<TransportResponse> {
    if (response.status < 300) return response;
    const { method, path } = request;
    throw await apiErrorOf(
      { method, path },
      this.#audible(response),
      retryAfterMs(response, this.#connection.clock.now()),
    );
  }

  /** The same response, whose body must not pause for longer than the headers may take. */
  #audible(response: TransportResponse): TransportResponse {
    if (this.#connection.silenceMs <= 0 || isComplete(response.body)) return response;
    return { ...response, body: withSilenceLimit(response.body, this.#connection.clock, this.#connection.silenceMs) };
  }
}

/** A fence that is open only while both are. */
function bothFences(outer: Fence | undefined, inner: Fence | undefined): Fence | undefined {
  if (!outer || !inner) return inner ?? outer;
  const lost = outer.lost && inner.lost ? AbortSignal.any([outer.lost, inner.lost]) : (outer.lost ?? inner.lost);
  const check = (): void => {
    outer.check();
    inner.check();
  };
  return { check, ...(lost ? { lost } : {}) };
}

const PODS: Kind = { group: "", version: "v1", kind: "Pod", apiVersion: "v1", plural: "pods", scope: "Namespaced" };

interface ObjectListMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The server omits the kind of a list's items; the client adds it. */
function named<T extends KubeObject>(kind: Kind<T>, object: T): T {
  if (object.kind && object.apiVersion) return object;
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
}

/** An object as it is sent, with kind and apiVersion. */
function typed(kind: Kind, object: { readonly apiVersion?: unknown; readonly kind?: unknown }): object {
  if (object.apiVersion === kind.apiVersion && object.kind === kind.kind) return object;
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
}

function nameOf(kind: Kind, metadata: { readonly name?: string }): string {
  if (metadata.name) return metadata.name;
  throw new SetpointError("REQUEST_INVALID", `${kindId(kind)}: metadata.name is missing`);
}

function unexpected(request: RequestSummary, wanted: string, body: unknown): SetpointError {
  const start = JSON.stringify(body)?.slice(0, 200);
  const message = `${nameOfRequest(request)}: expected ${wanted}, the server sent: ${start}`;
  return new SetpointError("RESPONSE_INVALID", message);
}
