import type { Clock } from "setpoint/clock";
import type { Journal } from "./journal.js";
import { OwnerIndex } from "./owner-index.js";
import { ResourceHistory } from "./resource-history.js";
import type { Change, Snapshot, Storage, StorageState, StoredObject, Subscriber, Write } from "./storage.js";
import { StorageConflict, StorageExpired, StorageFailure, StorageTooLarge } from "./storage-error.js";
import { StoredState } from "./stored-state.js";
import { Subscription } from "./subscription.js";

export interface StorageLimits {
  /** The storage remembers changes younger than this, within the bounds below. */
  readonly historyMs: number;
  /** The maximum number of remembered changes. */
  readonly historyChanges: number;
  /** The maximum number of JSON bytes in the remembered changes. */
  readonly historyBytes: number;
  /** The storage ends a subscriber that holds more unsent bytes than this. */
  readonly backlogBytes: number;
}

/** The kube-apiserver compacts every five minutes, and its watch cache holds at most 102,400 events per resource. */
export const defaultLimits: StorageLimits = {
  historyMs: 5 * 60_000,
  historyChanges: 102_400,
  historyBytes: 256 * 2 ** 20,
  backlogBytes: 16 * 2 ** 20,
};

/** Interval at which the storage forgets changes that are too old. */
const AGE_CHECK_MS = 15_000;

interface Pending {
  readonly change: Change;
  readonly resolve: (stored: StoredObject) => void;
  readonly reject: (error: unknown) => void;
}

/** The state of one resource. */
interface ResourceState {
  readonly history: ResourceHistory;
  /** The newest accepted but unpublished state of each key; undefined for a delete. */
  readonly pending: Map<string, { readonly revision: number; readonly stored: StoredObject | undefined }>;
  readonly subscriptions: Set<Subscription>;
}

/** A mark in the history: every change up to `revision` is at least as old as `atMs`. */
interface AgeMark {
  readonly revision: number;
  readonly atMs: number;
}

/**
 * The storage: objects in memory, made durable by an optional journal.
 *
 * Writes that arrive while a batch is being written form the next batch. When the journal fails, the storage undoes
 * every accepted write that is not durable yet, because later writes were computed from earlier ones.
 */
export class MemoryStorage implements Storage {
  readonly #resources = new Map<string, ResourceState>();
  #owners = new OwnerIndex();
  readonly #limits: StorageLimits;
  readonly #clock: Clock;
  readonly #journal: Journal | undefined;
  #revision = 1;
  /** The newest revision given to an accepted write. The storage never reuses the revision of a failed write. */
  #headRevision = 1;
  #compactedRevision = 0;
  #queue: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #waiters: { readonly revision: number; settle(error?: unknown): void }[] = [];
  #historyBytes = 0;
  /**
   * The sizes of all remembered changes in revision order. They show how many changes to forget to respect the
   * bounds.
   */
  #sizes: { readonly revision: number; readonly bytes: number }[] = [];
  #ages: AgeMark[] = [];
  #ageTimer: Disposable | undefined;
  #isClosed = false;

  constructor(options: {
    readonly clock: Clock;
    readonly journal?: Journal;
    readonly limits?: Partial<StorageLimits>;
    /** The initial state, shared with other storages until this one writes to it. Excludes a journal. */
    readonly from?: StorageState;
  }) {
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.#limits = { ...defaultLimits, ...options.limits };
    if (options.from) this.#adopt(options.from);
    else this.#restore();
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  get(resource: string, key: string): StoredObject | undefined {
    return this.#resources.get(resource)?.history.get(key);
  }

  head(resource: string, key: string): StoredObject | undefined {
    const state = this.#resources.get(resource);
    const pending = state?.pending.get(key);
    return pending ? pending.stored : state?.history.get(key);
  }

  snapshot(resource: string, revision = this.#revision): Snapshot | undefined {
    if (revision > this.#revision) throw new RangeError(`revision ${revision} is not published yet`);
    if (revision < this.#compactedRevision) return undefined;
    const tree = this.#state(resource).history.at(revision);
    return {
      revision,
      size: tree.size,
      get: (key) => tree.get(key),
      *entries({ namespace, start = "" } = {}) {
        const prefix = namespace ? `${namespace}/` : "";
        let first = prefix;
        if (start > first) first = start;
        for (const [key, stored] of tree.from(first)) {
          if (!key.startsWith(prefix)) return;
          yield stored;
        }
      },
    };
  }

  state(): StorageState {
    const trees = [...this.#resources].map(
      ([resource, { history }]) => [resource, history.at(this.#revision)] as const,
    );
    return { revision: this.#revision, trees: new Map(trees), owners: this.#owners.copy() };
  }

  commit(write: Write): Promise<StoredObject> {
    if (this.#isClosed) throw closedError();
    const { resource, key, expected, object, maxBytes = Number.POSITIVE_INFINITY } = write;
    const head = this.head(resource, key);
    if (head !== expected) throw new StorageConflict(resource, key, head);
    if (!object && !head) throw new TypeError(`${resource} ${key}: there is nothing to delete`);
    const revision = this.#headRevision + 1;
    const current = StoredState.of(resource, key, revision, object ?? head!.object);
    const { byteLength } = current.json;
    if (byteLength > maxBytes) throw new StorageTooLarge(resource, key, byteLength, maxBytes);
    this.#headRevision = revision;
    const type = object ? (head ? "modified" : "added") : "deleted";
    const change: Change = { type, revision, current, ...(head && { previous: head }) };
    this.#state(resource).pending.set(key, { revision, stored: object && current });
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  subscribe(resource: string, fromRevision: number, subscriber: Subscriber): Disposable {
    if (this.#isClosed) throw closedError();
    if (fromRevision < this.#compactedRevision) throw new StorageExpired(fromRevision, this.#compactedRevision);
    const { history, subscriptions } = this.#state(resource);
    const subscription = new Subscription(subscriber, fromRevision, this.#limits.backlogBytes, (over) =>
      subscriptions.delete(over),
    );
    subscriptions.add(subscription);
    subscription.replay(history.after(fromRevision));
    return subscription;
  }

  reached(revision: number, signal?: AbortSignal): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closedError());
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(signal?.reason);
      };
      const settle = (error?: unknown): void => {
        signal?.removeEventListener("abort", onAbort);
        if (error === undefined) resolve();
        else reject(error);
      };
      const waiter = { revision, settle };
      this.#waiters.push(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  dependents(uid: string): Iterable<StoredObject> {
    return this.#owners.dependents(uid);
  }

  *resources(): Iterable<string> {
    for (const [resource, { history }] of this.#resources) if (history.size > 0) yield resource;
  }

  compact(revision: number): void {
    const until = Math.min(revision, this.#revision);
    if (until <= this.#compactedRevision) return;
    this.#compactedRevision = until;
    for (const { history } of this.#resources.values()) history.compact(until);
    const kept = this.#sizes.findIndex((size) => size.revision > until);
    const forgotten = this.#sizes.splice(0, kept < 0 ? this.#sizes.length : kept);
    for (const { bytes } of forgotten) this.#historyBytes -= bytes;
    this.#ages = this.#ages.filter((mark) => mark.revision > until);
    this.#journal?.compact(until);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ageTimer?.[Symbol.dispose]();
    await this.#flushing;
    for (const { subscriptions } of this.#resources.values()) {
      for (const subscription of [...subscriptions]) subscription.end("closed");
    }
    for (const waiter of this.#waiters.splice(0)) waiter.settle(closedError());
    await this.#journal?.[Symbol.asyncDispose]();
  }

  #state(resource: string): ResourceState {
    const known = this.#resources.get(resource);
    if (known) return known;
    const state: ResourceState = { history: new ResourceHistory(), pending: new Map(), subscriptions: new Set() };
    this.#resources.set(resource, state);
    return state;
  }

  /** Runs until the queue is empty. The first batch starts in a microtask, never within `commit` itself. */
  async #flush(): Promise<void> {
    await undefined;
    while (this.#queue.length > 0) {
      if (this.#journal?.gathered) await this.#journal.gathered();
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#journal?.append(batch.map(({ change }) => change));
      } catch (error) {
        this.#undo([...batch, ...this.#queue], error);
        continue;
      }
      this.#publish(batch);
    }
    this.#flushing = undefined;
  }

  #undo(writes: readonly Pending[], error: unknown): void {
    this.#queue = [];
    for (const { change, reject } of writes) {
      this.#state(change.current.resource).pending.clear();
      reject(error);
    }
  }

  #publish(batch: readonly Pending[]): void {
    const published = new Map<ResourceState, Change[]>();
    for (const { change } of batch) {
      const state = this.#state(change.current.resource);
      this.#remember(state, change);
      if (state.pending.get(change.current.key)?.revision === change.revision) {
        state.pending.delete(change.current.key);
      }
      const changes = published.get(state);
      if (changes) changes.push(change);
      else published.set(state, [change]);
    }
    for (const { change, resolve } of batch) resolve(change.current);
    this.#announce(published);
    this.#keepBounds();
  }

  #remember(state: ResourceState, change: Change): void {
    state.history.publish(change);
    this.#owners.publish(change);
    this.#revision = change.revision;
    const bytes = change.current.json.byteLength;
    this.#sizes.push({ revision: change.revision, bytes });
    this.#historyBytes += bytes;
    this.#ageTimer ??= this.#clock.timer(AGE_CHECK_MS, () => this.#checkAges()).unref();
  }

  #announce(published: ReadonlyMap<ResourceState, readonly Change[]>): void {
    for (const [state, changes] of published) {
      for (const subscription of [...state.subscriptions]) subscription.publish(changes);
    }
    for (const changes of published.values()) {
      for (const { previous } of changes) if (previous instanceof StoredState) previous.release();
    }
    const reached = this.#waiters.filter((waiter) => waiter.revision <= this.#revision);
    if (reached.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#revision);
    for (const waiter of reached) waiter.settle();
  }

  /** Forgets a tenth more than necessary, so that a storage at its bound does not compact at every write. */
  #keepBounds(): void {
    const { historyChanges, historyBytes } = this.#limits;
    if (this.#sizes.length <= historyChanges && this.#historyBytes <= historyBytes) return;
    let changes = this.#sizes.length;
    let bytes = this.#historyBytes;
    for (const size of this.#sizes) {
      changes--;
      bytes -= size.bytes;
      if (changes <= historyChanges * 0.9 && bytes <= historyBytes * 0.9) {
        this.compact(size.revision);
        return;
      }
    }
  }

  /** Rearms its timer only while there are changes to forget, so an idle storage has no timer. */
  #checkAges(): void {
    this.#ageTimer = undefined;
    const nowMs = this.#clock.monotonic();
    if (this.#ages.at(-1)?.revision !== this.#revision) this.#ages.push({ revision: this.#revision, atMs: nowMs });
    const old = this.#ages.findLast((mark) => nowMs - mark.atMs >= this.#limits.historyMs);
    if (old) this.compact(old.revision);
    if (this.#sizes.length > 0) this.#ageTimer = this.#clock.timer(AGE_CHECK_MS, () => this.#checkAges()).unref();
  }

  /** The history of the other storage is unknown here, so it counts as compacted. */
  #adopt({ revision, trees, owners }: StorageState): void {
    this.#revision = revision;
    this.#headRevision = revision;
    this.#compactedRevision = revision;
    this.#owners = owners.copy();
    for (const [resource, tree] of trees) {
      this.#resources.set(resource, {
        history: new ResourceHistory(tree),
        pending: new Map(),
        subscriptions: new Set(),
      });
    }
  }

  #restore(): void {
    const kept = this.#journal?.restore();
    if (!kept) return;
    this.#compactedRevision = kept.compactedRevision;
    for (const stored of kept.objects) {
      this.#state(stored.resource).history.restore(stored);
      this.#owners.restore(stored);
    }
    for (const { resource, key, revision, stored } of kept.changes) {
      const state = this.#state(resource);
      const previous = state.history.get(key);
      if (!stored && !previous)
        throw new StorageFailure("STORAGE_DAMAGED", `${resource} ${key} is deleted before it is made`);
      const current = stored ?? StoredState.of(resource, key, revision, previous!.object);
      const type = stored ? (previous ? "modified" : "added") : "deleted";
      this.#remember(state, { type, revision, current, ...(previous && { previous }) });
    }
    this.#revision = Math.max(this.#revision, kept.revision);
    this.#headRevision = this.#revision;
  }
}

function closedError(): StorageFailure {
  return new StorageFailure("STORAGE_CLOSED", "the storage is closed");
}
