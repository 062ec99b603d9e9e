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
  /** The namespaces that the controller watches; all where undefined. */
  readonly namespaces: readonly string[] | undefined;
  /** Which of them it follows by their labels; all where undefined. */
  readonly isFollowed?: ((namespace: string) => boolean) | undefined;
  /** For owned kinds: whose fields are kept. */
  readonly fieldManager?: string;
  /** For kinds of another cluster: what tells the cluster of the controller's own objects from all others. */
  readonly homeId?: (signal: AbortSignal) => Promise<string>;
  readonly onEvent: (source: KindSource, event: InformerEvent<KubeObject>) => void;
  readonly resyncMs?: number | undefined;
}

/**
 * The informers of one declared kind in one cluster. In the scope that was stated or is the controller's own there is
 * one; of kinds that are not cached for a whole cluster unasked there is one for each namespace that is read.
 */
export class KindSource {
  readonly id: string;
  readonly kind: Kind;
  readonly use: ScopedKind;
  readonly cluster: Cluster;
  readonly isOwned: boolean;
  /** True where informers start as namespaces are read. */
  readonly isByNamespace: boolean;
  readonly #options: KindSourceOptions;
  /** The scope of informers that do not start by namespace. */
  readonly #stated: InformerScope;
  /** By namespace; the empty one stands for the stated scope. */
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

  /** Starts what can be started beforehand. */
  start(): void {
    if (!this.isByNamespace) this.#share("");
  }

  /** Resolves once everything started is in the store and its handler has seen it. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#shares.values()].map((share) => share.synced(signal)));
    await Promise.all(this.#handlersSynced);
  }

  /** Which cluster children of this kind name as their owner's; undefined where they are in the same one. */
  async ownerCluster(signal: AbortSignal): Promise<string | undefined> {
    return this.#options.homeId?.(signal);
  }

  get informers(): Iterable<InformerShare> {
    return this.#shares.values();
  }

  /** The informer that holds the objects of a namespace, synced; `"*"` for all that are watched. */
  informer(namespace: string, reader: { readonly signal: AbortSignal }): Informer | Promise<Informer> {
    if (this.isByNamespace && namespace === "*") {
      const message = `${this.id} is cached per namespace; to list all namespaces, declare it with namespaces: "all"`;
      throw new SetpointError("SCOPE_NOT_WATCHED", message);
    }
    this.#assertWatched(namespace);
    const share = this.#share(this.isByNamespace ? namespace : "");
    return share.isSynced ? share : share.synced(reader.signal).then(() => share);
  }

  /** Those of a list of all that are in namespaces which the controller follows. */
  watched(objects: readonly KubeObject[]): readonly KubeObject[] {
    const { isFollowed } = this.#options;
    const isStated = this.use.namespaces !== undefined || this.use.cluster !== undefined;
    if (!isFollowed || isStated || this.kind.scope === "Cluster") return objects;
    return objects.filter(({ metadata }) => isFollowed(metadata.namespace ?? ""));
  }

  /** What the cache holds of a namespace. */
  *within(namespace: string): Iterable<KubeObject> {
    if (this.kind.scope === "Namespaced") yield* this.peek(namespace)?.list({ namespace }) ?? [];
  }

  /**
   * That a child which is made there is seen, and found again: outside its owner's namespace and cluster nobody would look
   * after a restart.
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

  /** True where objects of the namespaces that are watched may be missing in the cache. */
  get isSelective(): boolean {
    return this.use.labelSelector !== undefined || this.use.fieldSelector !== undefined;
  }

  /** That a child with these labels is seen: the cache would not hold it, and every run make it again. */
  assertSelected(labels: Readonly<Record<string, string>> | undefined): void {
    const { labelSelector } = this.use;
    if (labelSelector === undefined || matchesLabels(labelSelector, labels)) return;
    const message = `${this.id} is watched with the selector ${labelSelector}: the controller would not see a child with other labels`;
    throw new SetpointError("SCOPE_NOT_WATCHED", message);
  }

  /** Sees to it that children in a namespace are watched, of kinds that are cached for those that are read. */
  async hold(namespace: string | undefined, reader: { readonly signal: AbortSignal }): Promise<void> {
    if (this.isOwned && this.isByNamespace && namespace) await this.informer(namespace, reader);
  }

  /** The informer that holds the objects of a namespace, if it was started. */
  peek(namespace: string): Informer | undefined {
    return this.#shares.get(this.isByNamespace ? namespace : "");
  }

  /** Takes in the answer to a write, so that reads are at least as new. A write that was only tried out left none. */
  observe(answer: KubeObject): void {
    if (!this.cluster.isPlan) this.peek(answer.metadata.namespace ?? "")?.observe(answer);
  }

  /** Waits until a delete is seen. */
  async observeDelete(key: string, uid: string, signal: AbortSignal): Promise<void> {
    if (!this.cluster.isPlan) await this.peek(parseKey(key).namespace)?.observeDelete(key, uid, signal);
  }

  [Symbol.dispose](): void {
    for (const share of this.#shares.values()) share[Symbol.dispose]();
    this.#shares.clear();
  }

  /** A read outside the scope would find nothing, and call that an answer. */
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
