import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { SetpointError } from "../errors/error.js";
import { type Kind, kindId } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import {
  type HandlerOptions,
  type HandlerRegistration,
  type IndexFunction,
  type Informer,
  type InformerHandler,
  type InformerScope,
  type InformerStatus,
  namedIn,
} from "./informer.js";
import { type WatchTally, watchTally } from "./reflector/watch-tally.js";
import type { Projection } from "./retention.js";
import { type InformerOptions, SharedInformer } from "./shared-informer.js";
import type { ListSelection } from "./store/selection.js";

export interface InformersOptions extends InformerOptions {
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface InformerRequest<T extends KubeObject> {
  readonly projection?: Projection<T>;
  /** Keeps the `managedFields` entry of this field manager on the objects: for kinds that a controller applies. */
  readonly keepManager?: string;
}

/** A share in an informer. Disposing it removes its handlers; disposing the last share stops the informer. */
export interface InformerShare<T extends KubeObject = KubeObject> extends Informer<T>, Disposable {
  /** The same as `status()` says, cheap enough to check before each read. */
  readonly isSynced: boolean;
}

/**
 * The informers of one client: one per kind, scope and projection, however many users it has. An informer starts with
 * the first share and stops with the last.
 *
 * ```ts
 * await using informers = new Informers(client);
 * using websites = informers.for(Website, { namespaces: ["default"] });
 * await websites.synced(signal);
 * ```
 */
export class Informers implements AsyncDisposable {
  readonly #client: Pick<Client, "raw">;
  readonly #options: InformersOptions;
  readonly #memory = { streamsLists: true };
  /** By kind. They outlive their informers, because counters must not decrease. */
  readonly #tallies = new Map<string, WatchTally>();
  readonly #shared = new Map<string, { readonly informer: SharedInformer<KubeObject>; shares: number }>();
  readonly #stopping = new Set<Promise<void>>();
  /** Transforms are compared by identity. */
  readonly #transforms = new Map<unknown, number>();

  constructor(client: Pick<Client, "raw">, options: InformersOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  for<T extends KubeObject>(
    kind: Kind<T>,
    scope: InformerScope = {},
    request: InformerRequest<T> = {},
  ): InformerShare<T> {
    const id = this.#id(kind, scope, request.projection as Projection | undefined);
    let entry = this.#shared.get(id);
    if (!entry) {
      const informer = new SharedInformer<T>(kind, scope, request.projection, {
        client: this.#client,
        clock: this.#options.clock ?? systemClock,
        random: this.#options.random ?? systemRandom,
        memory: this.#memory,
        tally: this.#tally(kindId(kind)),
        options: this.#options,
      });
      entry = { informer: informer as unknown as SharedInformer<KubeObject>, shares: 0 };
      this.#shared.set(id, entry);
    }
    entry.shares++;
    if (request.keepManager) entry.informer.keepManager(request.keepManager);
    entry.informer.start();
    return new Share(entry.informer as unknown as SharedInformer<T>, () => this.#leave(id));
  }

  /** The status of every informer, for health output and metrics. */
  *statuses(): Iterable<InformerStatus & { readonly kind: string; readonly scope: InformerScope }> {
    for (const { informer } of this.#shared.values()) {
      yield { kind: kindId(informer.kind), scope: informer.scope, ...informer.status() };
    }
  }

  /** What the watches of each kind have delivered since the start. */
  *tallies(): Iterable<WatchTally & { readonly kind: string }> {
    for (const [kind, tally] of this.#tallies) yield { kind, ...tally };
  }

  /** Stops all informers, even those that still have shares. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of [...this.#shared.keys()]) this.#stop(id);
    await Promise.all(this.#stopping);
  }

  #tally(kind: string): WatchTally {
    const tally = this.#tallies.get(kind) ?? watchTally();
    this.#tallies.set(kind, tally);
    return tally;
  }

  #leave(id: string): void {
    const entry = this.#shared.get(id);
    if (entry && --entry.shares === 0) this.#stop(id);
  }

  #stop(id: string): void {
    const { informer } = this.#shared.get(id)!;
    this.#shared.delete(id);
    const stopping = informer[Symbol.asyncDispose]().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  #id(kind: Kind, scope: InformerScope, projection: Projection | undefined): string {
    const namespaces = namedIn(scope)?.toSorted();
    const shape = projection?.type === "transform" ? this.#transformNumber(projection.transform) : projection;
    return JSON.stringify([kindId(kind), namespaces, scope.labelSelector, scope.fieldSelector, shape]);
  }

  #transformNumber(transform: unknown): number {
    const known = this.#transforms.get(transform);
    if (known !== undefined) return known;
    this.#transforms.set(transform, this.#transforms.size);
    return this.#transforms.size - 1;
  }
}

class Share<T extends KubeObject> implements InformerShare<T> {
  readonly #informer: SharedInformer<T>;
  readonly #leave: () => void;
  readonly #handlers = new Set<HandlerRegistration>();
  /** By the share's name of the index; the informer may use another name. */
  readonly #indexes = new Map<string, { readonly values: IndexFunction<T>; readonly own: string }>();
  #isDisposed = false;

  constructor(informer: SharedInformer<T>, leave: () => void) {
    this.#informer = informer;
    this.#leave = leave;
  }

  get kind(): Kind<T> {
    return this.#informer.kind;
  }

  get scope(): InformerScope {
    return this.#informer.scope;
  }

  get isSynced(): boolean {
    return this.#informer.isSynced;
  }

  status(): InformerStatus {
    return this.#informer.status();
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#informer.synced(signal);
  }

  get(key: string): T | undefined {
    return this.#informer.get(key);
  }

  has(key: string): boolean {
    return this.#informer.has(key);
  }

  list(selection?: ListSelection): Iterable<T> {
    return this.#informer.list(selection);
  }

  keys(namespace?: string): Iterable<string> {
    return this.#informer.keys(namespace);
  }

  byIndex(index: string, value: string): Iterable<T> {
    const known = this.#indexes.get(index);
    if (known) return this.#informer.byIndex(known.own, value);
    const names = [...this.#indexes.keys()].join(", ") || "none";
    const message = `${kindId(this.kind)}: there is no index "${index}"; there are ${names}`;
    throw new SetpointError("INFORMER_INDEX_UNKNOWN", message);
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    const known = this.#indexes.get(name);
    if (known?.values === values) return;
    if (known) {
      const message = `${kindId(this.kind)}: the index "${name}" exists already, with another function`;
      throw new SetpointError("INFORMER_INDEX_TAKEN", message);
    }
    this.#indexes.set(name, { values, own: this.#informer.shareIndex(name, values) });
  }

  addHandler(handler: InformerHandler<T>, options?: HandlerOptions): HandlerRegistration {
    const registration = this.#informer.addHandler(handler, options);
    this.#handlers.add(registration);
    return registration;
  }

  observe(written: T): void {
    this.#informer.observe(written);
  }

  observeDelete(key: string, uid: string, signal?: AbortSignal): Promise<{ readonly expired: boolean }> {
    return this.#informer.observeDelete(key, uid, signal);
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const handler of this.#handlers) handler[Symbol.dispose]();
    for (const { own } of this.#indexes.values()) this.#informer.leaveIndex(own);
    this.#leave();
  }
}
