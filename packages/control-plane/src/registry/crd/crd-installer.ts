import type { Facts } from "../../facts/facts.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { Conversion } from "../../kinds/resource-definition.js";
import type { Storage } from "../../storage/storage.js";
import { customDefinitions } from "./custom-definitions.js";
import { CRD_STORAGE, type CustomResourceDefinition, hasCondition } from "./custom-resource-definition.js";

/** Converts objects of one CRD between the storage version and another. Undefined if no conversion is needed. */
export type ConversionMaker = (crd: CustomResourceDefinition, version: string) => Conversion | undefined;

/**
 * Keeps the catalog in step with the stored CRDs. The storage notifies its subscribers before the write returns, so a
 * change is in effect before its request is answered.
 */
export class CrdInstaller implements Disposable {
  readonly #storage: Storage;
  readonly #catalog: ResourceCatalog;
  readonly #facts: Facts;
  readonly #conversion: ConversionMaker;
  readonly #subscription: Disposable;

  constructor(storage: Storage, catalog: ResourceCatalog, facts: Facts, conversion: ConversionMaker) {
    this.#storage = storage;
    this.#catalog = catalog;
    this.#facts = facts;
    this.#conversion = conversion;
    const snapshot = storage.snapshot(CRD_STORAGE)!;
    for (const { object } of snapshot.entries()) this.#install(object as CustomResourceDefinition);
    this.#subscription = this.#storage.subscribe(CRD_STORAGE, snapshot.revision, {
      changes: (changes) => {
        for (const { type, current } of changes) {
          if (type === "deleted") this.#catalog.uninstall(current.key);
          else this.#install(current.object as CustomResourceDefinition);
        }
      },
      ended: () => {},
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #install(crd: CustomResourceDefinition): void {
    const { name } = crd.metadata;
    if (!hasCondition(crd, "Established")) return;
    this.#catalog.install(
      name,
      customDefinitions(this.#facts, crd, (version) => this.#conversion(crd, version)),
    );
  }
}
