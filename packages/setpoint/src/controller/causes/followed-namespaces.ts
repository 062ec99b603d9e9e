import type { InformerShare } from "../../informer/informers.js";
import { Namespace } from "../../kinds/builtin/v1.js";
import type { Cluster } from "../cluster.js";

export interface FollowedNamespacesOptions {
  readonly cluster: Cluster;
  readonly labelSelector: string;
  /** Called after a namespace gets the labels, or exists with them at the start. */
  readonly onJoin: (namespace: string, isInInitialList: boolean) => void;
  /** Called after a namespace loses the labels, or is deleted. */
  readonly onLeave: (namespace: string) => void;
}

/** The namespaces with the labels that a controller selects, kept up to date. */
export class FollowedNamespaces implements Disposable {
  readonly #options: FollowedNamespacesOptions;
  readonly #names = new Set<string>();
  #share: InformerShare | undefined;
  #handled: Promise<void> = Promise.resolve();

  constructor(options: FollowedNamespacesOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#share) return;
    const { cluster, labelSelector, onJoin, onLeave } = this.#options;
    const share = cluster.informers.for(Namespace, { labelSelector });
    this.#share = share as InformerShare;
    const handler = share.addHandler((event) => {
      if (event.type === "delete" && this.#names.delete(event.key)) onLeave(event.key);
      if (event.type !== "add" || this.#names.has(event.key)) return;
      this.#names.add(event.key);
      onJoin(event.key, event.isInInitialList);
    });
    this.#handled = handler.synced;
  }

  /** Resolves once all existing namespaces have joined. */
  async synced(signal: AbortSignal): Promise<void> {
    await this.#share?.synced(signal);
    await this.#handled;
  }

  has(namespace: string): boolean {
    return this.#names.has(namespace);
  }

  get informers(): readonly InformerShare[] {
    return this.#share ? [this.#share] : [];
  }

  [Symbol.dispose](): void {
    this.#share?.[Symbol.dispose]();
    this.#share = undefined;
  }
}
