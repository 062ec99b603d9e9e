import { isAlreadyExists, isConflict, isNotFound } from "../client/api-error.js";
import type { CallOptions, Client, ListOptions } from "../client/client.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject, NewObject } from "../kinds/object.js";

/** How often `modify` repeats a change after a conflict. */
const CONFLICT_RETRIES = 2;

/** Returns the changed object, or nothing to leave it unchanged. `isRetry` is true once the first write conflicted. */
export type Modify<T extends KubeObject> = (object: T, isRetry: boolean) => T | undefined | Promise<T | undefined>;

export interface TypedStoreOptions {
  /** The namespace of objects that name none. Defaults to the client's; cluster-scoped kinds have none. */
  readonly namespace?: string;
}

/**
 * The objects of one kind as a collection, straight from the server, for code that is no control loop: handlers of
 * routes, tools, migrations.
 *
 * ```ts
 * const orders = new TypedStore(client, Order);
 * await orders.upsert({ metadata: { name: "a" }, spec: { item: "tea" } });
 * await orders.modify("a", (order) => ({ ...order, spec: { ...order.spec, count: 2 } }));
 * ```
 */
export class TypedStore<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly #client: Client;
  readonly #namespace: string | undefined;

  constructor(client: Client, kind: Kind<T>, options: TypedStoreOptions = {}) {
    this.kind = kind;
    this.#client = client;
    this.#namespace = kind.scope === "Cluster" ? undefined : (options.namespace ?? client.namespace);
  }

  get(name: string, options: StoreCall = {}): Promise<T> {
    return this.#client.get(this.kind, name, this.#call(options));
  }

  find(name: string, options: StoreCall = {}): Promise<T | undefined> {
    return this.#client.find(this.kind, name, this.#call(options));
  }

  /** Every object, over as many pages as needed. */
  async list(options: Omit<ListOptions, "limit" | "continue"> = {}): Promise<readonly T[]> {
    const items: T[] = [];
    const scope = this.#namespace === undefined ? {} : { namespace: this.#namespace };
    for await (const page of this.#client.pages(this.kind, { ...scope, ...options })) items.push(...page.items);
    return items;
  }

  add(object: NewObject<T>, options: StoreCall = {}): Promise<T> {
    return this.#client.create(this.kind, this.#placed(object, options), options);
  }

  /** Replaces the object: the version that it carries, or, if it carries none, whatever is stored. */
  async update(object: NewObject<T>, options: StoreCall & { readonly subresource?: string } = {}): Promise<T> {
    const placed = this.#placed(object, options);
    const { metadata } = placed;
    if (metadata.resourceVersion) return this.#client.update(this.kind, placed as unknown as T, options);
    const { name = "", namespace } = metadata;
    const scope = namespace === undefined ? {} : { namespace };
    for (let tries = 0; ; tries++) {
      const { resourceVersion } = (await this.#client.get(this.kind, name, { ...options, ...scope })).metadata;
      const whole = { ...placed, metadata: { ...metadata, resourceVersion } } as unknown as T;
      try {
        return await this.#client.update(this.kind, whole, options);
      } catch (error) {
        if (!isConflict(error) || tries === CONFLICT_RETRIES) throw error;
      }
    }
  }

  /**
   * Replaces the object if it exists, otherwise creates it; handles concurrent creates and deletes. An object with a
   * resourceVersion replaces only that version.
   */
  async upsert(object: NewObject<T>, options: StoreCall = {}): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.update(object, options);
      } catch (error) {
        const isOvertaken = isConflict(error) && !object.metadata.resourceVersion && tries < CONFLICT_RETRIES;
        if (isOvertaken) continue;
        if (!isNotFound(error)) throw error;
      }
      try {
        const { resourceVersion: _none, uid: _nobody, ...metadata } = object.metadata;
        return await this.add({ ...object, metadata } as NewObject<T>, options);
      } catch (error) {
        if (!isAlreadyExists(error) || tries === CONFLICT_RETRIES) throw error;
      }
    }
  }

  /** Reads, changes and writes the object; repeats that twice after a conflict. A write is always based on the latest read. */
  async modify(
    name: string,
    change: Modify<T>,
    options: StoreCall & { readonly subresource?: string } = {},
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      const read = await this.get(name, options);
      const changed = await change(read, tries > 0);
      if (!changed) return read;
      const { resourceVersion } = read.metadata;
      try {
        return await this.#client.update(
          this.kind,
          { ...changed, metadata: { ...changed.metadata, resourceVersion } },
          options,
        );
      } catch (error) {
        if (!isConflict(error) || tries === CONFLICT_RETRIES) throw error;
      }
    }
  }

  /** Does nothing if the object does not exist. */
  async delete(name: string, options: StoreCall = {}): Promise<void> {
    try {
      await this.#client.delete(this.kind, name, this.#call(options));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #call(options: StoreCall): StoreCall {
    const namespace = options.namespace ?? this.#namespace;
    return namespace === undefined ? options : { ...options, namespace };
  }

  #placed(object: NewObject<T>, options: StoreCall): NewObject<T> {
    const namespace = object.metadata.namespace ?? options.namespace ?? this.#namespace;
    return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
  }
}

export interface StoreCall extends CallOptions {
  readonly namespace?: string;
}
