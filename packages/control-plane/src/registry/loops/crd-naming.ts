import type { KubeObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import type { Change } from "../../storage/storage.js";
import { nextStatus } from "../crd/crd-status.js";
import { CRD_STORAGE, type CustomResourceDefinition } from "../crd/custom-resource-definition.js";
import { changeStatus } from "./plane-write.js";
import { type LoopEnvironment, WorkLoop } from "./work-loop.js";

const ACCOUNT = "crd-naming";

/**
 * Accepts the names of CRDs and establishes them. Checks a CRD with a name conflict again when the name may be free.
 */
export class CrdNaming implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (name, signal) => this.#settle(name, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { current, previous } of changes) {
      if (current.resource !== CRD_STORAGE) continue;
      this.#loop.add(current.key);
      // A new CRD frees no name, so the other CRDs need no check.
      if (previous !== undefined) this.#addGroup((current.object as CustomResourceDefinition).spec.group);
    }
  }

  /** Resolves once all changes so far are processed. */
  settled(): Promise<void> {
    return this.#loop.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  #addGroup(group: string): void {
    for (const { key, object } of this.#environment.storage.snapshot(CRD_STORAGE)!.entries()) {
      if ((object as CustomResourceDefinition).spec.group === group) this.#loop.add(key);
    }
  }

  async #settle(name: string, signal: AbortSignal): Promise<void> {
    const { storage, catalog, clock } = this.#environment;
    const next = (object: KubeObject) =>
      nextStatus(catalog, object as CustomResourceDefinition, formatTime(clock.now()));
    const stored = storage.get(CRD_STORAGE, name);
    if (stored === undefined || next(stored.object) === undefined) return;
    await changeStatus(this.#environment, stored, ACCOUNT, "kube-apiserver", signal, (object) => {
      const status = next(object);
      return status === undefined ? object : ({ ...object, status } as KubeObject);
    });
  }
}
