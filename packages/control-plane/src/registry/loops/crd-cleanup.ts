import type { Change } from "../../storage/storage.js";
import { CLEANUP_FINALIZER, CRD_STORAGE, type CustomResourceDefinition } from "../crd/custom-resource-definition.js";
import { removeAll } from "./content-removal.js";
import { changeStored, withoutFinalizer } from "./plane-write.js";
import { type LoopEnvironment, WorkLoop } from "./work-loop.js";

const ACCOUNT = "crd-finalizer";

/** Deletes the objects of deleted CRDs, then removes the finalizer of the CRD. */
export class CrdCleanup implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;
  /** Deleted CRDs that wait for their objects, by the resource of these objects. */
  readonly #waiting = new Map<string, string>();

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (name, signal) => this.#clean(name, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { type, current } of changes) {
      const { metadata } = current.object;
      const waiting = type === "deleted" ? this.#waiting.get(current.resource) : undefined;
      if (waiting !== undefined) this.#loop.add(waiting);
      if (current.resource !== CRD_STORAGE || metadata.deletionTimestamp === undefined) continue;
      if (type === "deleted") this.#waiting.delete(storageOf(current.object as CustomResourceDefinition));
      else this.#loop.add(metadata.name);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #clean(name: string, signal: AbortSignal): Promise<void> {
    const { storage } = this.#environment;
    const stored = storage.get(CRD_STORAGE, name);
    if (stored === undefined || !stored.object.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    const resource = storageOf(stored.object as CustomResourceDefinition);
    this.#waiting.set(resource, name);
    const objects = [...storage.snapshot(resource)!.entries()];
    const remaining = await removeAll(this.#environment, objects, ACCOUNT, signal);
    if (remaining.length > 0) return;
    await changeStored(this.#environment, stored, ACCOUNT, signal, (object) =>
      withoutFinalizer(object, CLEANUP_FINALIZER),
    );
  }
}

function storageOf({ spec }: CustomResourceDefinition): string {
  return `${spec.group}/${spec.names.plural}`;
}
