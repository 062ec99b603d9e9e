import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import type { Random } from "../clock/random.js";
import { isSetpointError, SetpointError } from "../errors/error.js";
import { type Kind, keyOf, kindId } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import { Deltas, type Partition, type Stage } from "./deltas.js";
import {
  type HandlerOptions,
  type HandlerRegistration,
  type IndexFunction,
  type Informer,
  type InformerEvent,
  type InformerHandler,
  type InformerPhase,
  type InformerScope,
  type InformerStatus,
  namedIn,
} from "./informer.js";
import { type HandlerStep, Listener } from "./listener.js";
import { isUnreadable, ObjectDecoder } from "./reflector/incoming.js";
import { Reflector, type ReflectorOptions, type ServerMemory } from "./reflector/reflector.js";
import { isOlder } from "./reflector/revision.js";
import type { WatchTally } from "./reflector/watch-tally.js";
import type { Projection } from "./retention.js";
import { Retention } from "./retention.js";
import { isSelected } from "./scope.js";
import { type ListSelection, termsOf } from "./store/selection.js";
import type { Snapshot } from "./store/snapshot.js";
import { Store, type StoreOptions } from "./store/store.js";
import { StoreIndex } from "./store/store-index.js";

export interface SharedInformerContext {
  readonly client: Pick<Client, "raw">;
  readonly clock: Clock;
  readonly random: Random;
  readonly memory: ServerMemory;
  readonly tally: WatchTally;
  readonly options: InformerOptions;
}

export interface InformerOptions extends ReflectorOptions, StoreOptions {
  /** How long `observeDelete` waits at most. Defaults to 5 s. */
  readonly deleteWait?: Duration;
  /** Called for every failure of lists, watches and handlers; `status()` shows the last failure of a list or watch. */
  readonly onError?: (kind: Kind, error: unknown) => void;
  /** Called when lists or watches work again after a failure. */
  readonly onRecovered?: (kind: Kind) => void;
  /** Called for every step that is delivered, once for all handlers: for metrics. Must not throw. */
  readonly onStep?: (kind: Kind, type: InformerEvent<KubeObject>["type"]) => void;
}

const DEFAULT_DELETE_WAIT_MS = 5000;
const JSON_ACCEPT = "application/json";
const METADATA_ACCEPT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

interface DeleteWaiter {
  readonly uid: string;
  readonly seen: () => void;
}

/** An informer with its reflectors, store, indexes and handlers. {@link Informers} starts, shares and stops it. */
export class SharedInformer<T extends KubeObject> implements Informer<T>, AsyncDisposable {
  readonly kind: Kind<T>;
  readonly scope: InformerScope;
  readonly #context: SharedInformerContext;
  readonly #retention: Retention;
  readonly #reader: ObjectDecoder;
  readonly #store: Store<T>;
  readonly #deltas: Deltas<T>;
  readonly #indexes = new Map<string, StoreIndex<T>>();
  readonly #listeners = new Set<Listener<T>>();
  readonly #partitions: readonly (Partition & { phase: InformerPhase; readonly reflector: Reflector<Stage> })[];
  readonly #stopped = new AbortController();
  readonly #deleteWaiters = new Map<string, Set<DeleteWaiter>>();
  readonly #syncWaiters = new Set<() => void>();
  #running: Promise<unknown> | undefined;
  #isInitialListDone = false;
  #lastError: InformerStatus["lastError"];
  /** Whether a list or watch failed since the last success. */
  #isFailing = false;
  #expiredWaits = 0;

  constructor(
    kind: Kind<T>,
    scope: InformerScope,
    projection: Projection<T> | undefined,
    context: SharedInformerContext,
  ) {
    this.kind = kind;
    this.scope = scope;
    this.#context = context;
    this.#retention = new Retention(projection as Projection | undefined);
    this.#reader = new ObjectDecoder(kind, this.#retention);
    this.#store = new Store(kind, context.options, Math.floor(context.random.next() * 2 ** 32));
    this.#deltas = new Deltas(this.#store, {
      isNeeded: () => this.#listeners.size > 0,
      isTracking: () => this.#indexes.size > 0 || this.#deleteWaiters.size > 0,
      push: (step, isEvent) => this.#distribute(step, isEvent),
      unchanged: (key) => this.#resyncUnchanged(key),
      changed: (key) => this.#changed(key),
    });
    // One listener per namespace and waiter is intended, not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#stopped.signal);
    const namespaces = (kind.scope === "Namespaced" ? namedIn(scope) : undefined) ?? [undefined];
    this.#partitions = namespaces.map((namespace) => this.#partition(namespace));
  }

  /** Starts to list and watch; later calls do nothing. */
  start(): void {
    const { signal } = this.#stopped;
    this.#running ??= Promise.all(this.#partitions.map((partition) => partition.reflector.run(signal)));
  }

  /** Keeps the `managedFields` entries of this manager from now on; lists again if some were dropped already. */
  keepManager(manager: string): void {
    if (!this.#retention.keepManager(manager) || !this.#running) return;
    for (const { reflector } of this.#partitions) reflector.refresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort(this.#stoppedError());
    for (const listener of [...this.#listeners]) listener[Symbol.dispose]();
    for (const partition of this.#partitions) partition.phase = "stopped";
    for (const waiters of this.#deleteWaiters.values()) for (const waiter of waiters) waiter.seen();
    await this.#running;
    this.#store.clear();
  }

  get isSynced(): boolean {
    return this.#partitions.every((partition) => partition.isSynced);
  }

  status(): InformerStatus {
    const worst = PHASES_BY_TROUBLE.find((phase) => this.#partitions.some((partition) => partition.phase === phase));
    let backlog = 0;
    for (const listener of this.#listeners) backlog = Math.max(backlog, listener.backlog);
    return {
      phase: worst ?? "listing",
      synced: this.isSynced,
      lastResourceVersion: this.#partitions.map((partition) => partition.resourceVersion).reduce(older),
      ...(this.#lastError ? { lastError: this.#lastError } : {}),
      objects: this.#store.size,
      bytes: this.#store.bytes,
      backlog,
    };
  }

  /** How many waits for own deletes expired. */
  get expiredWaits(): number {
    return this.#expiredWaits;
  }

  async synced(signal?: AbortSignal): Promise<void> {
    this.#assertRunning();
    if (this.isSynced) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (reason: unknown): void => {
        release();
        reject(this.#notSynced(reason));
      };
      const onCallerAbort = (): void => onAbort(signal!.reason);
      const onStop = (): void => onAbort(this.#stopped.signal.reason);
      const onSynced = (): void => {
        release();
        resolve();
      };
      const release = (): void => {
        this.#syncWaiters.delete(onSynced);
        signal?.removeEventListener("abort", onCallerAbort);
        this.#stopped.signal.removeEventListener("abort", onStop);
      };
      if (signal?.aborted) {
        reject(this.#notSynced(signal.reason));
        return;
      }
      this.#syncWaiters.add(onSynced);
      signal?.addEventListener("abort", onCallerAbort);
      this.#stopped.signal.addEventListener("abort", onStop);
    });
  }

  get(key: string): T | undefined {
    this.#assertRunning();
    return this.#store.get(key);
  }

  has(key: string): boolean {
    this.#assertRunning();
    return this.#store.has(key);
  }

  keys(namespace?: string): Iterable<string> {
    this.#assertRunning();
    return this.#store.keys(namespace);
  }

  list(selection: ListSelection = {}): Iterable<T> {
    const { namespace, labelSelector, fieldSelector } = selection;
    if (!labelSelector && !fieldSelector) return this.#objects(this.keys(namespace));
    this.#assertRunning();
    // Parse at once, because the slot may have another object later.
    return this.#store.select(namespace, termsOf(selection)).map((slot) => this.#store.read(slot));
  }

  byIndex(name: string, value: string): Iterable<T> {
    this.#assertRunning();
    const index = this.#indexes.get(name);
    if (!index) {
      throw new SetpointError("INFORMER_INDEX_UNKNOWN", `${kindId(this.kind)}: there is no index "${name}"`);
    }
    return this.#objects(index.keys(value));
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    this.#assertRunning();
    const known = this.#indexes.get(name);
    if (known?.values === values) return;
    if (known) {
      const message = `${kindId(this.kind)}: the index "${name}" exists already, with another function`;
      throw new SetpointError("INFORMER_INDEX_TAKEN", message);
    }
    const index = new StoreIndex(values);
    this.#indexes.set(name, index);
    for (const key of this.#store.keys()) this.#indexOne(name, index, key);
  }

  /**
   * Adds an index for a share, or finds the one with the same function: each share has its own names. Returns the
   * internal name, for `byIndex` and {@link leaveIndex}.
   */
  shareIndex(name: string, values: IndexFunction<T>): string {
    let own = [...this.#indexes].find(([, index]) => index.values === values)?.[0];
    if (own === undefined) {
      own = name;
      for (let number = 2; this.#indexes.has(own); number++) own = `${name} (${number})`;
      this.addIndex(own, values);
    }
    this.#indexes.get(own)!.users++;
    return own;
  }

  /** A share no longer reads the index; removes it with the last share. */
  leaveIndex(own: string): void {
    const index = this.#indexes.get(own);
    if (index && --index.users === 0) this.#indexes.delete(own);
  }

  addHandler(handler: InformerHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    this.#assertRunning();
    const listener = new Listener<T>(handler, options, {
      clock: this.#context.clock,
      random: this.#context.random,
      onHandlerError: (key, cause) => {
        const message = `a handler of ${kindId(this.kind)} failed for ${key}`;
        this.#context.options.onError?.(this.kind, new SetpointError("INFORMER_HANDLER_FAILED", message, { cause }));
      },
      everything: () => this.#everything(),
      onDispose: () => this.#listeners.delete(listener),
    });
    for (const [key, object] of this.#everything()) listener.push({ type: "add", key, object, isInInitialList: true });
    if (this.isSynced) listener.endInitialList();
    this.#listeners.add(listener);
    return listener;
  }

  observe(written: T): void {
    this.#assertRunning();
    const partition = this.#partitionOf(written.metadata.namespace);
    // Check before parsing: with many writes at once the watch is often faster.
    if (!partition || !this.#deltas.isNews(keyOf(written), written.metadata.resourceVersion, partition)) return;
    const read = this.#reader.readObject(written);
    if (!isUnreadable(read)) this.#deltas.observe(read, isSelected(this.scope, written));
  }

  async observeDelete(key: string, uid: string, signal?: AbortSignal): Promise<{ readonly expired: boolean }> {
    this.#assertRunning();
    const { clock, options } = this.#context;
    const slot = this.#store.slotOf(key);
    if (slot === undefined || !this.#store.hasUid(slot, uid)) return { expired: false };
    const waiters = this.#deleteWaiters.get(key) ?? new Set();
    this.#deleteWaiters.set(key, waiters);
    return new Promise((resolve, reject) => {
      const waitMs = parseDuration(options.deleteWait ?? DEFAULT_DELETE_WAIT_MS, "deleteWait");
      const timer = clock.timer(waitMs, () => {
        this.#expiredWaits++;
        const message = `${kindId(this.kind)} ${key}: the informer did not see its delete within ${waitMs / 1000} s`;
        options.onError?.(this.kind, new SetpointError("INFORMER_DELETE_NOT_SEEN", message));
        finish(() => resolve({ expired: true }));
      });
      const waiter: DeleteWaiter = { uid, seen: () => finish(() => resolve({ expired: false })) };
      const onAbort = (): void => finish(() => reject(signal!.reason));
      const finish = (settle: () => void): void => {
        timer[Symbol.dispose]();
        signal?.removeEventListener("abort", onAbort);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#deleteWaiters.delete(key);
        settle();
      };
      waiters.add(waiter);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  #partition(
    namespace: string | undefined,
  ): Partition & { phase: InformerPhase; readonly reflector: Reflector<Stage> } {
    const { client, clock, random, memory, tally, options } = this.#context;
    const partition = { namespace, resourceVersion: "", isSynced: false, phase: "listing" as InformerPhase };
    const reflector = new Reflector({
      client,
      clock,
      random,
      memory,
      tally,
      options,
      kind: this.kind,
      scope: this.scope,
      partition,
      accept: this.#retention.isMetadataOnly ? METADATA_ACCEPT : JSON_ACCEPT,
      reader: this.#reader,
      deltas: this.#deltas,
      onPhase: (phase) => {
        if (!this.#stopped.signal.aborted) partition.phase = phase;
      },
      onSynced: () => this.#onSynced(),
      onError: (error) => {
        this.#isFailing = true;
        this.#onError(error);
      },
      onWorking: () => {
        if (this.#isFailing) this.#context.options.onRecovered?.(this.kind);
        this.#isFailing = false;
      },
    });
    return Object.assign(partition, { reflector });
  }

  #partitionOf(namespace: string | undefined): Partition | undefined {
    return this.#partitions.find((one) => one.namespace === undefined || one.namespace === namespace);
  }

  /** A list is complete; the first list of all partitions ends the initial list of every handler. */
  #onSynced(): void {
    if (this.#isInitialListDone || !this.isSynced) return;
    this.#isInitialListDone = true;
    for (const listener of this.#listeners) listener.endInitialList();
    for (const resolve of [...this.#syncWaiters]) resolve();
  }

  #onError(error: unknown): void {
    const { clock, options } = this.#context;
    this.#lastError = {
      code: isSetpointError(error) ? error.code : "UNKNOWN",
      message: error instanceof Error ? error.message : String(error),
      at: new Date(clock.now()).toISOString(),
    };
    options.onError?.(this.kind, error);
  }

  #distribute(step: HandlerStep<T>, isEvent: boolean): void {
    this.#context.options.onStep?.(this.kind, step.type);
    for (const listener of this.#listeners) {
      if (isEvent) listener.pushEvent(step);
      else listener.push(step);
    }
  }

  /** A list brought the object unchanged: a step only for handlers that want resyncs. */
  #resyncUnchanged(key: string): void {
    let object: Snapshot<T> | undefined;
    for (const listener of this.#listeners) {
      if (!listener.wantsResync) continue;
      object ??= this.#store.snapshot(this.#store.slotOf(key)!);
      listener.push({ type: "update", key, old: object, object, isResync: true });
    }
  }

  #changed(key: string): void {
    for (const [name, index] of this.#indexes) this.#indexOne(name, index, key);
    const waiters = this.#deleteWaiters.get(key);
    if (!waiters) return;
    const slot = this.#store.slotOf(key);
    for (const waiter of [...waiters]) if (slot === undefined || !this.#store.hasUid(slot, waiter.uid)) waiter.seen();
  }

  #indexOne(name: string, index: StoreIndex<T>, key: string): void {
    try {
      const slot = this.#store.slotOf(key);
      index.set(key, slot === undefined ? undefined : this.#store.peek(slot));
    } catch (cause) {
      const message = `${kindId(this.kind)}: the index "${name}" failed for ${key}`;
      this.#onError(new SetpointError("INFORMER_INDEX_FAILED", message, { cause }));
    }
  }

  *#everything(): Iterable<readonly [string, Snapshot<T>]> {
    for (const key of this.#store.keys()) yield [key, this.#store.snapshot(this.#store.slotOf(key)!)];
  }

  *#objects(keys: Iterable<string>): Iterable<T> {
    for (const key of keys) {
      const object = this.#store.get(key);
      if (object) yield object;
    }
  }

  #notSynced(cause: unknown): SetpointError {
    const { phase, lastError } = this.status();
    const why = lastError ? `; the last error: ${lastError.message}` : "";
    return new SetpointError("INFORMER_NOT_SYNCED", `${kindId(this.kind)} is not synced (${phase})${why}`, { cause });
  }

  #assertRunning(): void {
    if (this.#stopped.signal.aborted) throw this.#stoppedError();
  }

  #stoppedError(): SetpointError {
    return new SetpointError("INFORMER_STOPPED", `the informer of ${kindId(this.kind)} is stopped`);
  }
}

const PHASES_BY_TROUBLE: readonly InformerPhase[] = [
  "stopped",
  "waiting-for-kind",
  "backing-off",
  "listing",
  "watching",
];

function older(a: string, b: string): string {
  return isOlder(b, a) ? b : a;
}
