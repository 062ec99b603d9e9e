import { SetpointError } from "../../errors/error.js";
import { type Informer, type InformerEvent, type InformerScope, namedIn } from "../../informer/informer.js";
import type { InformerShare } from "../../informer/informers.js";
import { type Kind, parseKey } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import { matchesLabels } from "../../kinds/selector/label-selector.js";
import { OWNER_INDEX, ownerIndexValues } from "../apply/ownership.js";
import type { Cluster } from "../cluster.js";
import { isCautious, type ScopedKind, sourceId } from "../controller.js";

export interface KindSourceOptions {
  readonly cluster: Cluster;
  /** The namespaces that the controller watches; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether it follows a namespace by its labels; undefined if it follows all. */
  readonly isFollowed?: ((namespace: string) => boolean) | undefined;
  /** For owned kinds: the manager whose managedFields the cache keeps. */
  readonly fieldManager?: string;
  /** For kinds of another cluster: identifies the cluster of the controller's own objects. */
  readonly homeId?: (signal: AbortSignal) => Promise<string>;
  readonly onEvent: (source: KindSource, event: InformerEvent<KubeObject>) => void;
  readonly resyncMs?: number | undefined;
}

/**
 * The informers of one declared kind in one cluster. There is one informer for the stated scope or that of the
 * controller. Kinds that are not cached cluster-wide by default have one for each namespace that is read.
 */
export class KindSource {
  readonly id: string;
  readonly kind: Kind;
  readonly use: ScopedKind;
  readonly cluster: Cluster;
  readonly isOwned: boolean;
  /** True if informers start when their namespace is first read. */
  readonly isByNamespace: boolean;
  readonly #options: KindSourceOptions;
  /** The scope of informers that do not start by namespace. */
  readonly #stated: InformerScope;
  /** By namespace; the empty key is the stated scope. */
  readonly #shares = new Map<string, InformerShare>();
  readonly #handlersSynced: Promise<void>[] = [];

  constructor(use: ScopedKind, options: KindSourceOptions) {
    this.id = sourceId(use.kind, use.cluster);
    this.kind = use.kind;
    this.use = use;
    this.cluster = options.cluster;
    this.isOwned = options.fieldManager !== undefined;
    this.isByNamespace = use.namespaces === undefined && options.namespaces === undefined && isCautious(use.kind);
    this.#options = options;
    this.#stated = this.#scope("");
  }

  /** Starts the informers that need no namespace. */
  start(): void {
    if (!this.isByNamespace) this.#share("");
  }

  /** Resolves once everything started is in the store and its handler has seen it. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#shares.values()].map((share) => share.synced(signal)));
    await Promise.all(this.#handlersSynced);
  }

  /** The cluster that children of this kind record for their owner; undefined if it is the same one. */
  async ownerCluster(signal: AbortSignal): Promise<string | undefined> {
    return this.#options.homeId?.(signal);
  }

  get informers(): Iterable<InformerShare> {
    return this.#shares.values();
  }

  /** The synced informer for a namespace; `"*"` for all watched namespaces. */
  informer(namespace: string, reader: { readonly signal: AbortSignal }): Informer | Promise<Informer> {
    if (this.isByNamespace && namespace === "*") {
      const message = `${this.id} is cached per namespace; to list all namespaces, declare it with namespaces: "all"`;
      throw new SetpointError("SCOPE_NOT_WATCHED", message);
    }
    this.#assertWatched(namespace);
    const share = this.#share(this.isByNamespace ? namespace : "");
    return share.isSynced ? share : share.synced(reader.signal).then(() => share);
  }

  /** The objects of a list that are in namespaces which the controller follows. */
  watched(objects: readonly KubeObject[]): readonly KubeObject[] {
    const { isFollowed } = this.#options;
    const isStated = this.use.namespaces !== undefined || this.use.cluster !== undefined;
    if (!isFollowed || isStated || this.kind.scope === "Cluster") return objects;
    return objects.filter(({ metadata }) => isFollowed(metadata.namespace ?? ""));
  }

  /** The cached objects of a namespace. */
  *within(namespace: string): Iterable<KubeObject> {
    if (this.kind.scope === "Namespaced") yield* this.peek(namespace)?.list({ namespace }) ?? [];
  }

  /**
   * Throws if the controller would not see, or not find again, a child there: after a restart nobody would look outside
   * the owner's namespace and cluster.
   */
  assertFound(namespace: string | undefined, owner: KubeObject): void {
    if (!this.isOwned) return;
    this.#assertWatched(namespace ?? "");
    if (!this.isByNamespace || !namespace) return;
    const { cluster, kind } = this.use;
    const { namespace: home } = owner.metadata;
    if (cluster === undefined && (!home || namespace === home)) return;
    const scope = `{ ${cluster === undefined ? "" : `cluster: "${cluster}", `}namespaces: "all" }`;
    const advice = `declare its namespaces, scoped(${kind.kind}, ${scope})`;
    const message = `${this.id} in ${namespace} could not be found again after a restart: ${advice}`;
    throw new SetpointError("SCOPE_NOT_WATCHED", message);
  }

  /** True if the cache may lack objects of the watched namespaces. */
  get isSelective(): boolean {
    return this.use.labelSelector !== undefined || this.use.fieldSelector !== undefined;
  }

  /**
   * Throws if the controller would not see a child with these labels: the cache would lack it, and every run would
   * create it again.
   */
  assertSelected(labels: Readonly<Record<string, string>> | undefined): void {
    const { labelSelector } = this.use;
    if (labelSelector === undefined || matchesLabels(labelSelector, labels)) return;
    const message = `${this.id} is watched with the selector ${labelSelector}: the controller would not see a child with other labels`;
    throw new SetpointError("SCOPE_NOT_WATCHED", message);
  }

  /** Makes sure that children in a namespace are watched, for kinds that are cached per namespace. */
  async hold(namespace: string | undefined, reader: { readonly signal: AbortSignal }): Promise<void> {
    if (this.isOwned && this.isByNamespace && namespace) await this.informer(namespace, reader);
  }

  /** The informer for a namespace, if it was started. */
  peek(namespace: string): Informer | undefined {
    return this.#shares.get(this.isByNamespace ? namespace : "");
  }

  /** Stores the response to a write, so that reads are at least as new. Ignores responses of dry runs. */
  observe(answer: KubeObject): void {
    if (!this.cluster.isPlan) this.peek(answer.metadata.namespace ?? "")?.observe(answer);
  }

  /** Waits until the informer has seen a delete. */
  async observeDelete(key: string, uid: string, signal: AbortSignal): Promise<void> {
    if (!this.cluster.isPlan) await this.peek(parseKey(key).namespace)?.observeDelete(key, uid, signal);
  }

  [Symbol.dispose](): void {
    for (const share of this.#shares.values()) share[Symbol.dispose]();
    this.#shares.clear();
  }

  /** A read outside the scope would wrongly find nothing. */
  #assertWatched(namespace: string): void {
    const namespaces = namedIn(this.#stated);
    if (namespace === "*" || namespace === "" || this.isByNamespace || !namespaces || namespaces.includes(namespace))
      return;
    const message = `${this.id} is watched in ${namespaces.join(", ")}, not in ${namespace}; declare it with its namespaces`;
    throw new SetpointError("SCOPE_NOT_WATCHED", message);
  }

  #scope(namespace: string): InformerScope {
    const { namespaces, labelSelector, fieldSelector } = this.use;
    const chosen =
      this.kind.scope === "Cluster" || namespaces === "all"
        ? undefined
        : namespace !== ""
          ? [namespace]
          : (namespaces ?? this.#options.namespaces);
    return {
      ...(chosen ? { namespaces: chosen } : {}),
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
    };
  }

  #share(namespace: string): InformerShare {
    const known = this.#shares.get(namespace);
    if (known) return known;
    const { cluster, fieldManager, onEvent, resyncMs } = this.#options;
    const request = fieldManager === undefined ? {} : { keepManager: fieldManager };
    const share = cluster.informers.for(this.kind, this.#scope(namespace), request);
    this.#shares.set(namespace, share);
    if (this.isOwned) share.addIndex(OWNER_INDEX, ownerIndexValues);
    for (const [name, values] of Object.entries(this.use.indexes ?? {})) share.addIndex(name, values as never);
    const handler = share.addHandler(
      (event) => onEvent(this, event),
      resyncMs === undefined ? {} : { resync: resyncMs },
    );
    this.#handlersSynced.push(handler.synced);
    return share;
  }
}
