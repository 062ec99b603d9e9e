import type { KubeObject, UntypedObject } from "setpoint";
import type { Change, StoredObject } from "../../storage/storage.js";
import { tracked } from "../write/field-ownership.js";
import { timestamp } from "../write/object-layout.js";
import { update } from "../write/update.js";
import { removeAll } from "./content-removal.js";
import { planeRequest } from "./plane-write.js";
import { type LoopEnvironment, WorkLoop } from "./work-loop.js";

const ACCOUNT = "namespace-controller";
const NAMESPACES = "/namespaces";

interface NamespaceLike extends UntypedObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** Empties namespaces that are deleted, and lets them go when nothing is left. */
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

  async #empty(name: string, signal: AbortSignal): Promise<void> {
    const { storage } = this.#environment;
    const namespace = storage.get(NAMESPACES, name);
    if (namespace?.object.metadata.deletionTimestamp === undefined) return;
    if (!(namespace.object as NamespaceLike).spec?.finalizers?.includes("kubernetes")) return;
    const remaining = await removeAll(this.#environment, [...this.#content(name)], ACCOUNT, signal);
    if (remaining.length > 0) return this.#report(name, remaining, signal);
    await this.#change(name, "finalize", signal, (object) => ({
      ...object,
      spec: { ...object.spec, finalizers: (object.spec?.finalizers ?? []).filter((each) => each !== "kubernetes") },
    }));
  }

  *#content(namespace: string): Iterable<StoredObject> {
    const { storage, catalog } = this.#environment;
    for (const resource of storage.resources()) {
      if (catalog.stored(resource)?.namespaced !== true) continue;
      yield* storage.snapshot(resource)!.entries({ namespace });
    }
  }

  /** Says in the namespace's status what it waits for. */
  async #report(name: string, remaining: readonly StoredObject[], signal: AbortSignal): Promise<void> {
    const now = timestamp(this.#environment.clock.now());
    await this.#change(name, "status", signal, (object) => ({
      ...object,
      status: { ...object.status, phase: "Terminating", conditions: conditionsOf(remaining, object, now) },
    }));
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

function conditionsOf(remaining: readonly StoredObject[], namespace: NamespaceLike, now: string): readonly Condition[] {
  const byResource = counted(remaining.map(({ resource }) => resourceText(resource)));
  const byFinalizer = counted(remaining.flatMap(({ object }) => object.metadata.finalizers ?? []));
  const resources = byResource.map(([resource, count]) => `${resource} has ${count} resource instances`).join(", ");
  const finalizers = byFinalizer.map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).join(", ");
  const wanted: readonly Omit<Condition, "lastTransitionTime">[] = [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      status: "False",
      reason: "ResourcesDiscovered",
      message: "All resources successfully discovered",
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      status: "False",
      reason: "ParsedGroupVersions",
      message: "All legacy kube types successfully parsed",
    },
    {
      type: "NamespaceDeletionContentFailure",
      status: "False",
      reason: "ContentDeleted",
      message: "All content successfully deleted, may be waiting on finalization",
    },
    {
      type: "NamespaceContentRemaining",
      status: "True",
      reason: "SomeResourcesRemain",
      message: `Some resources are remaining: ${resources}`,
    },
    byFinalizer.length > 0
      ? {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${finalizers}`,
        }
      : {
          type: "NamespaceFinalizersRemaining",
          status: "False",
          reason: "ContentHasNoFinalizers",
          message: "All content-preserving finalizers finished",
        },
  ];
  const before = namespace.status?.conditions ?? [];
  return wanted.map(({ type, status, reason, message }) => {
    const old = before.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return { type, status, lastTransitionTime, reason, message };
  });
}

/** `configmaps.` for the core group, `deployments.apps` for others: as the real controller prints them. */
function resourceText(resource: string): string {
  const slash = resource.indexOf("/");
  return `${resource.slice(slash + 1)}.${resource.slice(0, slash)}`;
}

function counted(values: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}
