import { Buffer } from "node:buffer";
import { apiPath } from "../../client/api-path.js";
import type { Client } from "../../client/client.js";
import { drain, readJson } from "../../client/transport/body.js";
import { withSilenceLimit } from "../../client/transport/silence.js";
import type { Clock } from "../../clock/clock.js";
import { type Random, systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { SetpointError } from "../../errors/error.js";
import { type Kind, kindId, parseKey } from "../../kinds/kind.js";
import type { KubeObject, ObjectMeta } from "../../kinds/object.js";
import type { Partition, WatchEventType } from "../deltas.js";
import {
  type HandlerOptions,
  type HandlerRegistration,
  type IndexFunction,
  type InformerHandler,
  type InformerScope,
  namedIn,
} from "../informer.js";
import { type HandlerStep, Listener } from "../listener.js";
import { WatchBackoff } from "../reflector/backoff.js";
import { type Incoming, ObjectDecoder } from "../reflector/incoming.js";
import { Reflector, type ReflectorOptions, type ReflectorTarget } from "../reflector/reflector.js";
import { isOlder } from "../reflector/revision.js";
import { watchTally } from "../reflector/watch-tally.js";
import { Retention } from "../retention.js";
import type { BodyStore } from "../store/body-store.js";
import { namespaceOf } from "../store/store.js";
import { StoreIndex } from "../store/store-index.js";

export interface ExternalInformerOptions<T extends KubeObject> extends ReflectorOptions {
  readonly bodies: BodyStore;
  readonly scope?: InformerScope;
  /** By name; evaluated when objects arrive. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Called for every failure of the server and of the body store. */
  readonly onError?: (error: unknown) => void;
}

const FETCH_SILENCE_MS = 30_000;

/** What is known about an object without its body. */
interface Known {
  readonly resourceVersion: string;
  readonly uid: string;
}

/** An object as it arrived, with its own copy of the bytes. */
interface Arrival extends Known {
  readonly key: string;
  readonly body: Buffer;
}

/**
 * An informer whose bodies are in a {@link BodyStore}. Keys, resourceVersions, uids and indexes are in memory, so it
 * notices every delete, even if the body is lost. It reads a lost body from the server again, so reads are
 * asynchronous.
 *
 * Steps run one after another: it stores the body, then shows the key, then calls handlers. While the body store fails,
 * it retries and skips nothing. If an old body is lost, `old` has only the identity.
 */
export class ExternalInformer<T extends KubeObject> implements AsyncDisposable {
  readonly kind: Kind<T>;
  readonly #client: Pick<Client, "raw">;
  readonly #options: ExternalInformerOptions<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #known = new Map<string, Known>();
  readonly #indexes: ReadonlyMap<string, StoreIndex<T>>;
  readonly #listeners = new Set<Listener<T>>();
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #partition: Partition;
  #jobs: Promise<void> = Promise.resolve();
  #waitingJobs = 0;
  #syncWaiters: (() => void)[] = [];

  constructor(client: Pick<Client, "raw">, kind: Kind<T>, options: ExternalInformerOptions<T>) {
    const { clock = systemClock, random = systemRandom, scope = {}, indexes = {} } = options;
    this.kind = kind;
    this.#client = client;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#indexes = new Map(Object.entries(indexes).map(([name, values]) => [name, new StoreIndex(values)]));
    const namespaces = namedIn(scope);
    if (namespaces !== undefined && namespaces.length > 1) {
      throw new SetpointError("REQUEST_INVALID", `${kindId(kind)}: an external informer takes one namespace or all`);
    }
    this.#partition = { namespace: namespaces?.[0], resourceVersion: "", isSynced: false };
    const reflector = new Reflector<Map<string, Arrival>>({
      client,
      clock,
      random,
      kind,
      scope,
      partition: this.#partition,
      accept: "application/json",
      reader: new ObjectDecoder(kind, new Retention()),
      deltas: this.#target(),
      memory: { streamsLists: true },
      tally: watchTally(),
      options,
      onPhase: () => {},
      onSynced: () => {},
      onError: (error) => options.onError?.(error),
      onWorking: () => {},
    });
    this.#running = reflector.run(this.#stopped.signal);
  }

  get size(): number {
    return this.#known.size;
  }

  get isSynced(): boolean {
    return this.#partition.isSynced;
  }

  /** Resolves when the initial list is stored. */
  async synced(): Promise<void> {
    if (!this.isSynced) await new Promise<void>((resolve) => this.#syncWaiters.push(resolve));
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }

  *keys(namespace?: string): Iterable<string> {
    for (const key of this.#known.keys()) if (namespace === undefined || namespaceOf(key) === namespace) yield key;
  }

  /** The object from the body store, or, if lost there, from the server. Rejects if neither answers. */
  async get(key: string): Promise<T | undefined> {
    const known = this.#known.get(key);
    if (!known) return undefined;
    const stored = await this.#stored(key, known).catch((error: unknown) => {
      this.#options.onError?.(error);
      return undefined;
    });
    return stored ?? this.#fetch(key);
  }

  async *list(namespace?: string): AsyncIterable<T> {
    yield* this.#objects(this.keys(namespace));
  }

  async *byIndex(name: string, value: string): AsyncIterable<T> {
    const index = this.#indexes.get(name);
    if (!index) throw new SetpointError("INFORMER_INDEX_UNKNOWN", `${kindId(this.kind)}: there is no index "${name}"`);
    yield* this.#objects(index.keys(value));
  }

  addHandler(handler: InformerHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const listener = new Listener<T>(handler, options, {
      clock: this.#clock,
      random: this.#random,
      onHandlerError: (key, cause) => {
        const message = `a handler of ${kindId(this.kind)} failed for ${key}`;
        this.#options.onError?.(new SetpointError("INFORMER_HANDLER_FAILED", message, { cause }));
      },
      everything: () => [],
      onDispose: () => this.#listeners.delete(listener),
    });
    this.#enqueue(async () => {
      for (const key of [...this.#known.keys()]) {
        const object = await this.get(key);
        if (object) listener.push({ type: "add", key, object: { object }, isInInitialList: true });
      }
      this.#listeners.add(listener);
      if (this.isSynced) listener.endInitialList();
    });
    return listener;
  }

  /** Steps that wait for the body store, including the current one. */
  get backlog(): number {
    return this.#waitingJobs;
  }

  /** Stops. The bodies stay, and the caller owns the body store. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    for (const listener of [...this.#listeners]) listener[Symbol.dispose]();
    await this.#running;
    await this.#jobs;
  }

  #target(): ReflectorTarget<Map<string, Arrival>> {
    return {
      apply: (type, incoming, partition) => {
        const arrival = arrivalOf(incoming);
        if (arrival.resourceVersion) partition.resourceVersion = arrival.resourceVersion;
        this.#enqueue(() => this.#step(type, arrival));
      },
      advance: (partition, resourceVersion) => {
        if (resourceVersion) partition.resourceVersion = resourceVersion;
      },
      beginList: () => new Map(),
      stage: (stage, incoming) => stage.set(incoming.key, arrivalOf(incoming)),
      unstage: (stage, incoming) => stage.delete(incoming.key),
      abandon: (stage) => stage.clear(),
      replace: (stage, resourceVersion, partition) => {
        const arrivals = new Map(stage);
        partition.resourceVersion = resourceVersion;
        this.#enqueue(() => this.#replace(arrivals));
      },
      vanish: () => this.#enqueue(() => this.#loseAll(this.#known.keys())),
    };
  }

  async #step(type: WatchEventType, arrival: Arrival): Promise<void> {
    if (type !== "DELETED") return this.#set(arrival, false);
    const { key, uid } = arrival;
    const known = this.#known.get(key);
    if (!known || (known.uid !== uid && isOlder(arrival.resourceVersion, known.resourceVersion))) return;
    await this.#insist(() => this.#options.bodies.delete(key));
    const object = { object: this.#parse(arrival.body) };
    this.#forget(key);
    this.#distribute({ type: "delete", key, object, finalStateUnknown: known.uid !== uid });
  }

  async #replace(arrivals: ReadonlyMap<string, Arrival>): Promise<void> {
    await this.#loseAll([...this.#known.keys()].filter((key) => !arrivals.has(key)));
    for (const arrival of arrivals.values()) await this.#set(arrival, !this.isSynced);
    if (this.isSynced || this.#stopped.signal.aborted) return;
    this.#partition.isSynced = true;
    for (const listener of this.#listeners) listener.endInitialList();
    for (const resolve of this.#syncWaiters.splice(0)) resolve();
  }

  async #set(arrival: Arrival, isInInitialList: boolean): Promise<void> {
    const { key, resourceVersion, uid, body } = arrival;
    let known = this.#known.get(key);
    if (known && known.uid === uid && known.resourceVersion === resourceVersion) return;
    if (known && known.uid !== uid) {
      await this.#lose(key, known);
      known = undefined;
    }
    const old = known && ((await this.#stored(key, known).catch(() => undefined)) ?? this.#identity(key, known));
    await this.#insist(() => this.#options.bodies.put(key, { resourceVersion, body }));
    const object = this.#parse(body);
    this.#known.set(key, { resourceVersion, uid });
    for (const index of this.#indexes.values()) index.set(key, object);
    if (old) this.#distribute({ type: "update", key, old: { object: old }, object: { object }, isResync: false });
    else this.#distribute({ type: "add", key, object: { object }, isInInitialList });
  }

  async #loseAll(keys: Iterable<string>): Promise<void> {
    for (const key of [...keys]) await this.#lose(key, this.#known.get(key)!);
  }

  /** Delete inferred from a relist. Handlers see it even if the body is lost too. */
  async #lose(key: string, known: Known): Promise<void> {
    const last = await this.#stored(key, known).catch(() => undefined);
    await this.#insist(() => this.#options.bodies.delete(key));
    this.#forget(key);
    this.#distribute({ type: "delete", key, object: last && { object: last }, finalStateUnknown: true });
  }

  #forget(key: string): void {
    this.#known.delete(key);
    for (const index of this.#indexes.values()) index.set(key, undefined);
  }

  #distribute(step: HandlerStep<T>): void {
    for (const listener of this.#listeners) listener.push(step);
  }

  /** Jobs run in order, one at a time. */
  #enqueue(job: () => Promise<void>): void {
    this.#waitingJobs++;
    this.#jobs = this.#jobs
      .then(() => (this.#stopped.signal.aborted ? undefined : job()))
      .catch((error: unknown) => {
        if (!this.#stopped.signal.aborted) this.#options.onError?.(error);
      })
      .finally(() => this.#waitingJobs--);
  }

  /** Retries until it succeeds, with growing pauses; rejects only when stopped. */
  async #insist<R>(attempt: () => Promise<R>): Promise<R> {
    const backoff = new WatchBackoff(this.#random);
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        this.#options.onError?.(error);
        await this.#clock.sleep(backoff.next(this.#clock.monotonic()), this.#stopped.signal);
      }
    }
  }

  /** The body of the known version or a newer one; undefined if it is lost. */
  async #stored(key: string, known: Known): Promise<T | undefined> {
    const stored = await this.#options.bodies.get(key);
    if (!stored || isOlder(stored.resourceVersion, known.resourceVersion)) return undefined;
    const object = this.#parse(stored.body);
    return object.metadata.uid === known.uid ? object : undefined;
  }

  async #fetch(key: string): Promise<T | undefined> {
    const { namespace, name } = parseKey(key);
    const request = { method: "GET" as const, path: apiPath(this.kind, { namespace, name }) };
    const headers = { accept: "application/json" };
    const answer = await this.#client.raw({ ...request, headers, verb: "get", kind: this.kind });
    const response = { ...answer, body: withSilenceLimit(answer.body, this.#clock, FETCH_SILENCE_MS) };
    if (response.status === 404) {
      await drain(response);
      return undefined;
    }
    const object = (await readJson(request, response)) as T;
    if (response.status !== 200) {
      throw new SetpointError(
        "BODY_STORE_FAILED",
        `${request.path}: the body is lost, and the server answers ${response.status}`,
      );
    }
    const { managedFields: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  }

  #identity(key: string, { resourceVersion, uid }: Known): T {
    const { namespace, name } = parseKey(key);
    const metadata = { name, ...(namespace ? { namespace } : {}), uid, resourceVersion } as ObjectMeta;
    return { apiVersion: this.kind.apiVersion, kind: this.kind.kind, metadata } as T;
  }

  #parse(body: Buffer): T {
    const object = JSON.parse(body.toString("utf8")) as T;
    return object.kind ? object : { ...object, apiVersion: this.kind.apiVersion, kind: this.kind.kind };
  }

  async *#objects(keys: Iterable<string>): AsyncIterable<T> {
    for (const key of [...keys]) {
      const object = await this.get(key);
      if (object) yield object;
    }
  }
}

function arrivalOf(incoming: Incoming): Arrival {
  const body = Buffer.allocUnsafe(incoming.bodyLength);
  incoming.copyBody(body, 0);
  return { key: incoming.key, resourceVersion: incoming.resourceVersion, uid: incoming.uid, body };
}
