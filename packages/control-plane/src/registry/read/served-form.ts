import type { KubeObject } from "setpoint";
import { perObject } from "../../api/memoized.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { StoredObject } from "../../storage/storage.js";

/** An object at one version of its resource. */
export interface ServedObject {
  readonly object: KubeObject;
  /** Compact JSON that starts with kind and apiVersion. */
  readonly json: Uint8Array;
}

const encoder = new TextEncoder();

/** The first bytes of every object of this version: `{"kind":"Pod","apiVersion":"v1",`. */
export const headOf = perObject(
  (definition: ResourceDefinition): Uint8Array =>
    encoder.encode(`{"kind":${JSON.stringify(definition.kind)},"apiVersion":"${apiVersionOf(definition)}",`),
);

/** Served forms of stored states. Each is computed once and kept as long as its state. */
export class ServedForms {
  /** By stored state. Holds only the version that was served last. */
  readonly #converted = new WeakMap<
    StoredObject,
    { readonly definition: ResourceDefinition; readonly served: ServedObject }
  >();
  /**
   * States that are already pruned and defaulted by this definition, so that reads skip both. A state that was written
   * under an earlier schema is pruned and defaulted when it is read.
   */
  readonly #current = new WeakMap<StoredObject, ResourceDefinition>();

  markCurrent(stored: StoredObject, definition: ResourceDefinition): void {
    // The schema of a built-in kind does not change while the process runs.
    if (!definition.isBuiltIn) this.#current.set(stored, definition);
  }

  /** The object at the definition's version. Undefined if that needs a conversion webhook. */
  servedNow(stored: StoredObject, definition: ResourceDefinition): ServedObject | undefined {
    if (definition.isBuiltIn ? isStorageVersion(definition) : this.#current.get(stored) === definition) return stored;
    const known = this.#converted.get(stored);
    if (known?.definition === definition) return known.served;
    // Objects stored before the storage version changed are still at their old version.
    const apiVersion = apiVersionOf(definition);
    const isAtVersion = stored.object.apiVersion === apiVersion;
    if (definition.convert !== undefined && !isAtVersion) return undefined;
    const object = isAtVersion ? stored.object : { ...stored.object, apiVersion };
    const refreshed = definition.refresh === undefined ? object : definition.refresh(object);
    if (refreshed === stored.object) {
      this.#current.set(stored, definition);
      return stored;
    }
    return this.#remember(stored, definition, refreshed);
  }

  /** Like {@link servedNow}, but calls the conversion webhook if needed. */
  async served(stored: StoredObject, definition: ResourceDefinition, signal: AbortSignal): Promise<ServedObject> {
    const ready = this.servedNow(stored, definition);
    if (ready !== undefined) return ready;
    const [only] = await this.servedAll([stored], definition, signal);
    return only!;
  }

  /** Converts many objects with one webhook call. */
  async servedAll(
    stored: readonly StoredObject[],
    definition: ResourceDefinition,
    signal: AbortSignal,
  ): Promise<readonly ServedObject[]> {
    const ready = stored.map((each) => this.servedNow(each, definition));
    const waiting = stored.filter((_, index) => ready[index] === undefined);
    if (waiting.length === 0) return ready as readonly ServedObject[];
    const objects = await definition.convert!.toServed(
      waiting.map(({ object }) => object),
      signal,
    );
    const made = new Map(
      waiting.map((each, index) => {
        const object = objects[index]!;
        return [each, this.#remember(each, definition, definition.refresh?.(object) ?? object)] as const;
      }),
    );
    return stored.map((each, index) => ready[index] ?? made.get(each)!);
  }

  #remember(stored: StoredObject, definition: ResourceDefinition, object: KubeObject): ServedObject {
    const served = { object, json: encoder.encode(JSON.stringify(object)) };
    this.#converted.set(stored, { definition, served });
    return served;
  }
}

export function isStorageVersion({ group, version, plural, storageId, storageVersion }: ResourceDefinition): boolean {
  return version === storageVersion && storageId === `${group}/${plural}`;
}
