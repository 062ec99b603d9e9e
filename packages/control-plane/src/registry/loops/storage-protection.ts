import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import type { Change, StoredObject } from "../../storage/storage.js";
import { changeStored, withoutFinalizer } from "./plane-write.js";
import { type LoopEnvironment, WorkLoop } from "./work-loop.js";

const CLAIMS = "/persistentvolumeclaims";
const VOLUMES = "/persistentvolumes";
const CLASSES = "storage.k8s.io/volumeattributesclasses";
const PODS = "/pods";

const FINALIZERS: Readonly<Record<string, string>> = {
  [CLAIMS]: "kubernetes.io/pvc-protection",
  [VOLUMES]: "kubernetes.io/pv-protection",
  [CLASSES]: "kubernetes.io/vac-protection",
};

const ACCOUNT = "storage-protection";

interface ClaimUser extends UntypedObject {
  readonly spec?: {
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[];
    readonly volumeAttributesClassName?: string;
  };
  readonly status?: { readonly phase?: string };
}

/**
 * Removes the finalizer of deleted claims, volumes and volume attributes classes once nothing uses them. Admission adds
 * the finalizer; this loop adds it again if a client removes it.
 */
export class StorageProtection implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (key, signal) => this.#release(key, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { type, current } of changes) {
      const { resource, key, object } = current;
      const finalizer = FINALIZERS[resource];
      if (finalizer !== undefined && type !== "deleted" && isDue(object, finalizer)) {
        this.#loop.add(`${resource} ${key}`);
      }
      // This pod may have been the last user of its claims.
      if (resource === PODS)
        for (const name of claimsOf(object)) this.#loop.add(`${CLAIMS} ${object.metadata.namespace}/${name}`);
      const className = (object as ClaimUser).spec?.volumeAttributesClassName;
      if (resource === CLAIMS && className) this.#loop.add(`${CLASSES} ${className}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #release(workKey: string, signal: AbortSignal): Promise<void> {
    const space = workKey.indexOf(" ");
    const resource = workKey.slice(0, space);
    const stored = this.#environment.storage.get(resource, workKey.slice(space + 1));
    const finalizer = FINALIZERS[resource]!;
    if (stored === undefined) return;
    if (stored.object.metadata.deletionTimestamp === undefined) return this.#protect(stored, finalizer, signal);
    if (!stored.object.metadata.finalizers?.includes(finalizer) || this.#isUsed(stored)) return;
    await changeStored(this.#environment, stored, ACCOUNT, signal, (object) => withoutFinalizer(object, finalizer));
  }

  async #protect(stored: StoredObject, finalizer: string, signal: AbortSignal): Promise<void> {
    if (stored.object.metadata.finalizers?.includes(finalizer)) return;
    await changeStored(this.#environment, stored, ACCOUNT, signal, (object) => withFinalizer(object, finalizer));
  }

  #isUsed({ resource, object }: StoredObject): boolean {
    const { storage } = this.#environment;
    const { name, namespace } = object.metadata;
    if (resource === VOLUMES) return (object as ClaimUser).status?.phase === "Bound";
    if (resource === CLASSES) {
      const claims = storage.snapshot(CLAIMS)!.entries();
      return some(claims, (claim) => (claim as ClaimUser).spec?.volumeAttributesClassName === name);
    }
    const pods = storage.snapshot(PODS)!.entries({ namespace: namespace! });
    return some(pods, (pod) => !isOver(pod) && claimsOf(pod).includes(name));
  }
}

/** Whether the object is deleted or lacks its finalizer. */
function isDue({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined || !metadata.finalizers?.includes(finalizer);
}

/** An object that is being deleted accepts no new finalizers. */
function withFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const { metadata } = object;
  if (!isDue(object, finalizer) || metadata.deletionTimestamp !== undefined) return object;
  return { ...object, metadata: { ...metadata, finalizers: [...(metadata.finalizers ?? []), finalizer] } };
}

function claimsOf(pod: KubeObject): readonly string[] {
  return ((pod as ClaimUser).spec?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
}

function isOver(pod: KubeObject): boolean {
  const phase = (pod as ClaimUser).status?.phase;
  return phase === "Succeeded" || phase === "Failed";
}

function some(objects: Iterable<StoredObject>, test: (object: KubeObject) => boolean): boolean {
  for (const { object } of objects) if (test(object)) return true;
  return false;
}
