import type { KubeObject } from "setpoint";
import { formatTime, isSameJson, type UntypedObject } from "setpoint/kinds";
import type { Json } from "../../api/json.js";
import { StatusError } from "../../api/status-error.js";
import type { Change, StoredObject } from "../../storage/storage.js";
import { tracked } from "../write/field-ownership.js";
import { update } from "../write/update.js";
import { removeAll } from "./content-removal.js";
import { type NamespaceCondition, namespaceFindings, withFindings } from "./namespace-conditions.js";
import { planeRequest } from "./plane-write.js";
import { type LoopEnvironment, type Turn, WorkLoop } from "./work-loop.js";

const ACCOUNT = "namespace-controller";
const NAMESPACES = "/namespaces";
const PODS = "/pods";

interface NamespaceLike extends UntypedObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly NamespaceCondition[] };
}

/** The real controller's estimate for finalizers before it checks again. */
const FINALIZER_SECONDS = 15;

/**
 * Deletes the content of deleted namespaces, then removes their finalizer. Pods go first: other objects stay while any
 * pod exists, so that pods keep their configuration, network policies and permissions until they end.
 */
export class NamespaceDeletion implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (name, signal) => this.#empty(name, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { type, current } of changes) {
      const { metadata } = current.object;
      if (current.resource === NAMESPACES) {
        if (type !== "deleted" && metadata.deletionTimestamp !== undefined) this.#loop.add(metadata.name);
      } else if (metadata.namespace !== undefined && (type === "deleted" || type === "added")) {
        const namespace = this.#environment.storage.get(NAMESPACES, metadata.namespace);
        if (namespace?.object.metadata.deletionTimestamp !== undefined) this.#loop.add(metadata.namespace);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  /**
   * Reports what blocks a namespace in its conditions, not in the log: it may wait for finalizers of other controllers.
   */
  async #empty(name: string, signal: AbortSignal): Promise<Turn> {
    const { storage, clock } = this.#environment;
    const namespace = storage.get(NAMESPACES, name);
    const deletedAt = namespace?.object.metadata.deletionTimestamp;
    if (namespace === undefined || deletedAt === undefined) return "done";
    if (!(namespace.object as NamespaceLike).spec?.finalizers?.includes("kubernetes")) return "done";
    const graceSeconds = graceLeft(storage.snapshot(PODS)!.entries({ namespace: name }), deletedAt, clock.now());
    const pods = await this.#removed(name, PODS, graceSeconds, signal);
    if (pods.remaining.length > 0) {
      await this.#report(name, pods.failures, [], signal);
      if (pods.failures.length > 0) return "again";
      return this.#lookAgain(name, graceSeconds > 0 ? graceSeconds : FINALIZER_SECONDS);
    }
    const failures = [...pods.failures];
    const remaining: StoredObject[] = [];
    for (const resource of this.#otherResources()) {
      const rest = await this.#removed(name, resource, 0, signal);
      failures.push(...rest.failures);
      remaining.push(...rest.remaining);
    }
    await this.#report(name, failures, remaining, signal);
    if (failures.length > 0) return "again";
    if (remaining.length > 0) return this.#lookAgain(name, FINALIZER_SECONDS);
    await this.#change(name, "finalize", signal, (object) => {
      const { finalizers = [], ...spec } = object.spec ?? {};
      const others = finalizers.filter((each) => each !== "kubernetes");
      return { ...object, spec: others.length === 0 ? spec : { ...spec, finalizers: others } };
    });
    return "done";
  }

  /** Checks again after half of the estimated time, as the real controller does. */
  #lookAgain(name: string, expectedSeconds: number): Turn {
    this.#loop.addAfter(name, (Math.floor(expectedSeconds / 2) + 1) * 1_000);
    return "done";
  }

  *#otherResources(): Iterable<string> {
    const { storage, catalog } = this.#environment;
    for (const resource of storage.resources()) {
      if (resource !== PODS && catalog.stored(resource)?.namespaced === true) yield resource;
    }
  }

  /**
   * Deletes the objects of one resource. If a delete fails, remaining objects are not counted, as in the real
   * controller.
   */
  async #removed(namespace: string, resource: string, graceSeconds: number, signal: AbortSignal): Promise<Removal> {
    const objects = [...this.#environment.storage.snapshot(resource)!.entries({ namespace })];
    if (objects.length === 0) return { remaining: [], failures: [] };
    try {
      const remaining = await removeAll(this.#environment, objects, ACCOUNT, signal);
      const isExpected = remaining.length === 0 || graceSeconds > 0 || remaining.some(hasFinalizers);
      return { remaining, failures: isExpected ? [] : [this.#unexpected(namespace, resource)] };
    } catch (error) {
      if (signal.aborted || !(error instanceof StatusError)) throw error;
      return { remaining: [], failures: [error.message] };
    }
  }

  #unexpected(namespace: string, resource: string): string {
    const { group, version, plural } = this.#environment.catalog.stored(resource)!;
    const gvr = `${group}/${version}, Resource=${plural}`;
    return `unexpected items still remain in namespace: ${namespace} for gvr: ${gvr}`;
  }

  /** Updates the conditions of the namespace if they changed. */
  async #report(
    name: string,
    failures: readonly string[],
    remaining: readonly StoredObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, storage } = this.#environment;
    const now = formatTime(clock.now());
    const next = (object: NamespaceLike): NamespaceLike => {
      const found = namespaceFindings(failures, remaining, (resource) => this.#groupsOf(resource));
      const conditions = withFindings(object.status?.conditions ?? [], found, now);
      return { ...object, status: { ...object.status, phase: "Terminating", conditions } };
    };
    const current = storage.get(NAMESPACES, name)?.object as NamespaceLike | undefined;
    if (current === undefined) return;
    if (isSameJson((current.status ?? null) as Json, next(current).status as unknown as Json)) return;
    await this.#change(name, "status", signal, next);
  }

  /** All names that serve a stored resource: two groups serve events. */
  #groupsOf(resource: string): readonly string[] {
    const served = [...this.#environment.catalog.definitions()].filter(({ storageId }) => storageId === resource);
    return [...new Set(served.map(({ plural, group }) => `${plural}.${group}`))];
  }

  async #change(
    name: string,
    subresource: string,
    signal: AbortSignal,
    change: (namespace: NamespaceLike) => NamespaceLike,
  ): Promise<void> {
    const definition = this.#environment.catalog.stored(NAMESPACES)!;
    const request = { ...planeRequest(definition, "", ACCOUNT, signal), subresource };
    await update(this.#environment, request, {
      name,
      transform: (old) => tracked(this.#environment, request, old, change(old as NamespaceLike) as KubeObject),
      skipsAdmission: true,
    });
  }
}

interface Removal {
  readonly remaining: readonly StoredObject[];
  readonly failures: readonly string[];
}

function hasFinalizers({ object }: StoredObject): boolean {
  return (object.metadata.finalizers?.length ?? 0) > 0;
}

interface PodLike {
  readonly spec?: { readonly terminationGracePeriodSeconds?: number };
  readonly status?: { readonly phase?: string };
}

/** The longest grace period of running pods, or 0 once that time has passed since the namespace was deleted. */
function graceLeft(pods: Iterable<StoredObject>, deletedAt: string, nowMs: number): number {
  let seconds = 0;
  for (const { object } of pods) {
    const { spec, status } = object as unknown as PodLike;
    if (status?.phase === "Succeeded" || status?.phase === "Failed") continue;
    seconds = Math.max(seconds, spec?.terminationGracePeriodSeconds ?? 0);
  }
  return nowMs - Date.parse(deletedAt) >= seconds * 1_000 ? 0 : seconds;
}
