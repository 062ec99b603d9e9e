import { SetpointError } from "../../errors/error.js";
import type { InformerEvent, InformerScope, InformerStatus } from "../../informer/informer.js";
import { Namespace } from "../../kinds/builtin/v1.js";
import { type Kind, keyOf, kindId, parseKey } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import { ownField } from "../../kinds/own-field.js";
import type { Cluster } from "../cluster.js";
import type { Controller, ScopedKind, WatchDeclaration } from "../controller.js";
import type { ControllerEnvironment } from "../environment.js";
import { FollowedNamespaces } from "./followed-namespaces.js";
import { KindSource } from "./kind-source.js";
import type { Sources } from "./object-reader.js";

type Event = InformerEvent<KubeObject>;

/** Receives the events of a controller's informers. */
export interface SourceEvents {
  onPrimary(source: KindSource, event: Event): void;
  onDependency(source: KindSource, event: Event): void;
  onWatched(watch: WatchDeclaration, source: KindSource, event: Event): void;
}

/** The status of an informer of a controller. */
export type SourceStatus = InformerStatus & { readonly kind: string; readonly scope: InformerScope };

/** All informers of a controller: of its own kind, of the kinds that it owns and uses, and of those that it watches. */
export class ControllerSources implements Disposable {
  readonly primary: KindSource;
  readonly #controller: Controller;
  readonly #environment: ControllerEnvironment;
  /** Declared kinds by cluster (empty for the manager's own cluster), then by kind; includes the controller's own kind. */
  readonly #byCluster = new Map<string, Map<string, KindSource>>();
  readonly #watches: readonly KindSource[];
  /** Set for controllers that choose namespaces by label. */
  readonly #namespaces: FollowedNamespaces | undefined;
  #homeId: string | undefined;

  constructor(controller: Controller, environment: ControllerEnvironment, events: SourceEvents) {
    this.#controller = controller;
    this.#environment = environment;
    const { namespaces, labelSelector, kind, resyncMs, fieldManager } = controller;
    this.#namespaces = this.#followed(events);
    const isFollowed = this.#namespaces && ((namespace: string) => this.#namespaces!.has(namespace));
    const own = controller.uses.find((use) => isOwnScope(use, controller));
    this.primary = new KindSource(
      {
        kind,
        ...(own?.indexes && { indexes: own.indexes }),
        ...(labelSelector ? { labelSelector } : {}),
        ...(namespaces ? {} : { namespaces: "all" }),
      },
      {
        cluster: environment.cluster,
        namespaces,
        resyncMs,
        isFollowed,
        // The controller does not reconcile objects elsewhere, but runs may have read them.
        onEvent: (source, event) =>
          this.covers(event.key) ? events.onPrimary(source, event) : events.onDependency(source, event),
      },
    );
    this.#byCluster.set("", new Map([[kindId(kind), this.primary]]));
    const onEvent = (source: KindSource, event: Event): void => events.onDependency(source, event);
    const common = { namespaces, isFollowed, onEvent };
    for (const use of controller.uses) if (use !== own) this.#declare(use, common);
    for (const use of controller.owns) this.#declare(use, { ...common, fieldManager });
    this.#watches = controller.watches.map((watch) => {
      const cluster = this.#clusterOf(watch);
      return new KindSource(watch, {
        cluster,
        namespaces,
        onEvent: (source, event) => events.onWatched(watch, source, event),
      });
    });
  }

  /** Starts the informers that need no namespace. */
  start(): void {
    this.#namespaces?.start();
    for (const source of this.#all()) source.start();
  }

  /** Resolves once all started informers are synced and their handlers have seen every object. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#namespaces, ...this.#all()].map((source) => source?.synced(signal)));
  }

  /** Whether the controller currently reconciles objects in the namespace of a key. */
  covers(key: string): boolean {
    return this.#namespaces?.has(parseKey(key).namespace) ?? true;
  }

  /** The keys of all objects that the controller reconciles. */
  *keys(): Iterable<string> {
    for (const informer of this.primary.informers) {
      for (const key of informer.keys()) if (this.covers(key)) yield key;
    }
  }

  /** One of the objects that the controller reconciles, from the cache. */
  object(key: string): KubeObject | undefined {
    return this.covers(key) ? this.primary.peek(parseKey(key).namespace)?.get(key) : undefined;
  }

  get owned(): readonly KindSource[] {
    return [...this.#all()].filter(({ isOwned }) => isOwned);
  }

  statuses(): readonly SourceStatus[] {
    const namespaces = this.#namespaces ? [{ id: kindId(Namespace), informers: this.#namespaces.informers }] : [];
    return [...namespaces, ...this.#all()].flatMap(({ id, informers }) =>
      [...informers].map((informer) => ({ kind: id, scope: informer.scope, ...informer.status() })),
    );
  }

  /** The sources for a run in a cluster; without a name, in the manager's own. */
  in(cluster: string | undefined): Sources {
    const known = this.#byCluster.get(cluster ?? "") ?? new Map<string, KindSource>();
    return {
      of: (kind: Kind) => {
        const source = known.get(kindId(kind));
        if (source) return source;
        const where = cluster === undefined ? "" : ` in the cluster "${cluster}"`;
        const message = `controller ${this.#controller.name} declares no ${kindId(kind)}${where}; add it to uses or owns`;
        throw new SetpointError("KIND_NOT_DECLARED", message);
      },
      owned: [...known.values()].filter(({ isOwned }) => isOwned),
      isHome: cluster === undefined,
    };
  }

  [Symbol.dispose](): void {
    this.#namespaces?.[Symbol.dispose]();
    for (const source of this.#all()) source[Symbol.dispose]();
  }

  *#all(): Iterable<KindSource> {
    yield this.primary;
    for (const sources of this.#byCluster.values())
      for (const source of sources.values()) if (source !== this.primary) yield source;
    yield* this.#watches;
  }

  /**
   * Follows the namespaces of a label selector: when a namespace joins or leaves, so do its objects, for runs and for
   * readers.
   */
  #followed(events: SourceEvents): FollowedNamespaces | undefined {
    const { namespaceSelector: labelSelector, kind } = this.#controller;
    if (labelSelector === undefined || kind.scope === "Cluster") return undefined;
    const tell = (namespace: string, eventOf: (key: string, object: KubeObject) => Event): void => {
      for (const source of this.#all()) {
        if (source.use.cluster !== undefined || this.#watches.includes(source)) continue;
        const handle = source === this.primary ? events.onPrimary : events.onDependency;
        for (const object of [...source.within(namespace)]) handle.call(events, source, eventOf(keyOf(object), object));
      }
    };
    return new FollowedNamespaces({
      cluster: this.#environment.cluster,
      labelSelector,
      onJoin: (namespace, isInInitialList) =>
        tell(namespace, (key, object) => ({ type: "add", key, object, isInInitialList })),
      onLeave: (namespace) =>
        tell(namespace, (key, object) => ({ type: "delete", key, object, finalStateUnknown: false })),
    });
  }

  #declare(
    use: ScopedKind,
    options: {
      readonly namespaces: readonly string[] | undefined;
      readonly isFollowed: ((namespace: string) => boolean) | undefined;
      readonly onEvent: (source: KindSource, event: Event) => void;
      readonly fieldManager?: string;
    },
  ): void {
    const isHome = use.cluster === undefined;
    const homeId = (signal: AbortSignal): Promise<string> => this.#readHomeId(signal);
    const source = new KindSource(use, { ...options, cluster: this.#clusterOf(use), ...(isHome ? {} : { homeId }) });
    const name = use.cluster ?? "";
    const known = this.#byCluster.get(name) ?? new Map<string, KindSource>();
    this.#byCluster.set(name, known.set(kindId(use.kind), source));
  }

  /** The uid of the namespace `kube-system` identifies a cluster: it is created with the cluster and never deleted. */
  async #readHomeId(signal: AbortSignal): Promise<string> {
    const { client } = this.#environment.cluster;
    this.#homeId ??= (await client.get(Namespace, "kube-system", { signal })).metadata.uid;
    return this.#homeId;
  }

  #clusterOf(use: ScopedKind): Cluster {
    if (use.cluster === undefined) return this.#environment.cluster;
    const cluster = ownField(this.#environment.clusters, use.cluster);
    if (cluster) return cluster;
    const message = `controller ${this.#controller.name}: ${kindId(use.kind)} is in the unknown cluster "${use.cluster}"`;
    throw new SetpointError("CLUSTER_UNKNOWN", message);
  }
}

/** Whether a controller declares its own kind in its own scope, for the indexes. */
function isOwnScope(use: ScopedKind, controller: Controller): boolean {
  const { kind, namespaces, namespaceSelector, labelSelector } = controller;
  const isEverywhere = namespaces === undefined && namespaceSelector === undefined;
  const isWhole = use.namespaces === undefined || (use.namespaces === "all" && isEverywhere);
  const isHere = use.cluster === undefined && kindId(use.kind) === kindId(kind);
  return isHere && isWhole && use.labelSelector === labelSelector && use.fieldSelector === undefined;
}
