import { isConflict, isNotFound } from "../../client/api-error.js";
import type { DeleteOptions, Patch, SubresourceWrite } from "../../client/client.js";
import { SetpointError } from "../../errors/error.js";
import { type Kind, keyOf, kindId, parseKey } from "../../kinds/kind.js";
import type { ApplyConfiguration, JsonObject, KubeObject, NewObject } from "../../kinds/object.js";
import type { KindSource } from "../causes/kind-source.js";
import { keyFor, type Sources } from "../causes/object-reader.js";
import type { ChildOptions } from "../context.js";
import type { ReconcileRun } from "../run/reconcile-run.js";
import type { WriteRecord } from "../timeline/timeline.js";
import { appliedEntry, differingPaths, isApplied, isSameBeside } from "./applied-fields.js";
import type { AppliedMemory } from "./applied-memory.js";
import { copyWithout, leadsThroughList, splitPath, valueAt, withoutPath } from "./field-paths.js";
import type { OwnChange, OwnWrites } from "./own-writes.js";
import { OWNER_INDEX, ownerMark, ownershipOf } from "./ownership.js";
import { patchedParts, patchedPaths } from "./patched-paths.js";

export interface ChildWriterOptions {
  readonly fieldManager: string;
  readonly applied: AppliedMemory;
  readonly ownWrites: OwnWrites;
  readonly rivalOf: RivalSearch;
}

/** Looks up other writers of these fields before a write takes the fields back. Finds none unless a conflict is suspected. */
export type RivalSearch = (
  source: KindSource,
  key: string,
  paths: readonly string[],
  run: Pick<ReconcileRun, "key" | "signal">,
) => Promise<string | undefined> | undefined;

/** A child that is ready to be applied. */
interface Child {
  readonly source: KindSource;
  readonly key: string;
  readonly namespace: string | undefined;
  /** Undefined if the child is in its owner's cluster. */
  readonly ownerCluster: string | undefined;
  readonly desired: JsonObject;
}

/** The writes of one run to objects other than its own. */
export class ChildWriter {
  readonly #run: ReconcileRun;
  readonly #sources: Sources;
  readonly #options: ChildWriterOptions;

  constructor(run: ReconcileRun, sources: Sources, options: ChildWriterOptions) {
    this.#run = run;
    this.#sources = sources;
    this.#options = options;
  }

  async apply(kind: Kind, stated: JsonObject, options: ChildOptions = {}): Promise<KubeObject> {
    this.#run.assertOpen();
    this.#run.learn(kind, stated);
    const child = this.#childOf(kind, stated, this.#sources.isHome ? undefined : await this.#ownerCluster(kind));
    const { source, key } = child;
    const informer = await source.informer(child.namespace ?? "", this.#run);
    this.#run.assertOpen();
    this.#run.track({ type: "object", source: source.id, key });
    this.#run.stated.add(`${source.id} ${key}`);
    const current = informer.get(key) ?? (source.isSelective ? await this.#hidden(child) : undefined);
    if (current) this.#assertMayTake(child, current, options);

    const { fieldManager, applied } = this.#options;
    const entry = current && appliedEntry(current, fieldManager)?.fieldsV1;
    const desired = withoutYielded(child.desired, options.yields ?? [], current, entry);
    const paths = current && entry ? differingPaths(entry, desired, current) : ["metadata"];
    if (current && entry) {
      const isEqual = paths.length === 0 || applied.isCurrent(source.id, key, desired, entry, current);
      if (isEqual) return this.#learned(kind, current);
    }

    const rival = await this.#options.rivalOf(source, key, paths, this.#run);
    this.#run.assertMayWrite();
    return this.#options.ownWrites.during(source.id, key, async () => {
      const answer = await this.#send({ ...child, desired }, options, current !== undefined);
      const answered = appliedEntry(answer, fieldManager)?.fieldsV1;
      if (answered && differingPaths(answered, desired, answer).length > 0) {
        applied.remember(source.id, key, desired, answered, answer);
      } else {
        applied.forget(source.id, key);
      }
      const own = [entry ?? {}, answered ?? {}];
      this.#observe(source, key, current, answer, (before, after) => isSameBeside(own, before, after));
      this.#record("apply", source, key, paths, answer, rival);
      return this.#learned(kind, answer);
    });
  }

  /** Forced if the cache has the object. A first apply is not: it must not overwrite an object that it has not seen. */
  async #send(child: Child, options: ChildOptions, isKnown: boolean): Promise<KubeObject> {
    const { source, key, namespace, desired } = child;
    const { fieldManager } = this.#options;
    const send = (force: boolean): Promise<KubeObject> =>
      this.#run.write("apply", source.id, key, (signal) =>
        source.cluster.client.apply(source.kind, desired as unknown as ApplyConfiguration<KubeObject>, {
          namespace,
          fieldManager,
          force,
          signal,
        }),
      );
    if (isKnown || options.existing === "adopt") return send(true);
    try {
      return await send(false);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    const found = await this.#ask(child);
    if (found) this.#assertMayTake(child, found, options);
    this.#run.assertMayWrite();
    return send(true);
  }

  async create(kind: Kind, object: NewObject<KubeObject>): Promise<KubeObject> {
    this.#run.assertOpen();
    const source = this.#sources.of(kind);
    const namespace = this.#namespaceOf(kind, object.metadata.namespace);
    source.assertFound(namespace, this.#run.object);
    if (source.isOwned) source.assertSelected(object.metadata.labels);
    await source.hold(namespace, this.#run);
    const ownerCluster = this.#sources.isHome ? undefined : await this.#ownerCluster(kind);
    const mark = source.isOwned ? this.#mark(namespace, ownerCluster) : {};
    const metadata = {
      ...object.metadata,
      ...(namespace ? { namespace } : {}),
      ...(mark.ownerReferences ? { ownerReferences: mark.ownerReferences } : {}),
      ...(mark.annotations ? { annotations: { ...object.metadata.annotations, ...mark.annotations } } : {}),
    };
    const { apiVersion, kind: kindName } = kind;
    const whole = { ...object, apiVersion, kind: kindName, metadata };
    const options = { fieldManager: this.#options.fieldManager, ...(namespace ? { namespace } : {}) };
    this.#run.learn(kind, object);
    this.#run.assertMayWrite();
    // The server generates the name, so the echo of such a create may cost one run without work.
    const hoped = keyFor(kind, metadata.name ?? "", namespace);
    // Also if it exists already: the run wants it.
    this.#run.stated.add(`${source.id} ${hoped}`);
    return this.#options.ownWrites.during(source.id, hoped, async () => {
      const answer = await this.#run.write("create", source.id, hoped, (signal) =>
        source.cluster.client.create(kind, whole, { ...options, signal }),
      );
      const key = keyOf(answer);
      this.#run.stated.add(`${source.id} ${key}`);
      this.#run.track({ type: "object", source: source.id, key });
      this.#observe(source, key, undefined, answer, () => true);
      this.#record("create", source, key, [], answer);
      return this.#learned(kind, answer);
    });
  }

  async patch(
    kind: Kind,
    name: string,
    patch: Patch,
    options: { readonly namespace?: string; readonly subresource?: string } = {},
  ): Promise<KubeObject> {
    const source = this.#sources.of(kind);
    const namespace = this.#namespaceOf(kind, options.namespace);
    const key = keyFor(kind, name, namespace);
    for (const part of patchedParts(patch)) this.#run.learn(kind, part);
    this.#run.assertMayWrite();
    const answer = await this.#run.write("patch", source.id, key, (signal) =>
      source.cluster.client.patch(kind, name, patch, {
        ...options,
        ...(namespace ? { namespace } : {}),
        fieldManager: this.#options.fieldManager,
        signal,
      }),
    );
    // Some subresources return another kind (scale), which is not the state of the object.
    if (answer.kind === kind.kind) source.observe(answer);
    const record = this.#record("patch", source, key, patchedPaths(patch), answer);
    this.#run.contents.set(record, JSON.stringify(patch));
    return this.#learned(kind, answer);
  }

  /** The response of a subresource is not the state of the object: the watch brings that. */
  async createSubresource(
    kind: Kind,
    name: string,
    { subresource, body, ...place }: Pick<SubresourceWrite, "subresource" | "body" | "namespace">,
  ): Promise<unknown> {
    const source = this.#sources.of(kind);
    const namespace = this.#namespaceOf(kind, place.namespace);
    const key = keyFor(kind, name, namespace);
    this.#run.assertMayWrite();
    const answer = await this.#run.write("create", source.id, key, (signal) =>
      source.cluster.client.createSubresource(kind, name, {
        subresource,
        body,
        ...(namespace ? { namespace } : {}),
        fieldManager: this.#options.fieldManager,
        signal,
      }),
    );
    this.#record("create", source, key, [subresource], undefined);
    return answer;
  }

  async delete(
    kind: Kind,
    name: string,
    options: Pick<DeleteOptions, "namespace" | "preconditions" | "propagation" | "gracePeriodSeconds"> = {},
  ): Promise<void> {
    const source = this.#sources.of(kind);
    const namespace = this.#namespaceOf(kind, options.namespace);
    const key = keyFor(kind, name, namespace);
    this.#run.assertMayWrite();
    const known = source.peek(namespace ?? "")?.get(key);
    let answer: KubeObject | undefined;
    try {
      answer = await this.#run.write("delete", source.id, key, (signal) =>
        source.cluster.client.delete(kind, name, {
          propagation: "Background",
          ...options,
          ...(namespace ? { namespace } : {}),
          signal,
        }),
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return;
    }
    this.#options.applied.forget(source.id, key);
    this.#record("delete", source, key, [], answer);
    // A finalizer, or the grace period of a pod, keeps the object for now: the response is its newest state.
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer?.metadata ?? {};
    const stays = deletionTimestamp && (finalizers.length > 0 || deletionGracePeriodSeconds > 0);
    if (answer && stays) source.observe(answer);
    else if (known) await source.observeDelete(key, known.metadata.uid, this.#run.signal);
  }

  async prune(kinds: readonly Kind[]): Promise<readonly string[]> {
    const pruned: string[] = [];
    const sources = kinds.length === 0 ? this.#sources.owned : kinds.map((kind) => this.#ownedSource(kind, "prune"));
    for (const source of sources) {
      // Find the children of an earlier process, even if this one has made none yet.
      await source.hold(this.#run.object.metadata.namespace, this.#run);
      for (const informer of source.informers) {
        for (const child of [...informer.byIndex(OWNER_INDEX, this.#run.object.metadata.uid)]) {
          const key = keyOf(child);
          if (this.#run.stated.has(`${source.id} ${key}`) || child.metadata.deletionTimestamp) continue;
          // Other controllers may have children of the same object, and `create` does not state its objects again.
          if (!appliedEntry(child, this.#options.fieldManager)) continue;
          const { name, namespace, uid } = child.metadata;
          await this.delete(source.kind, name, { namespace, preconditions: { uid } });
          pruned.push(key);
        }
      }
    }
    return pruned;
  }

  #childOf(kind: Kind, stated: JsonObject, ownerCluster: string | undefined): Child {
    const source = this.#ownedSource(kind, "apply");
    const metadata = stated.metadata as JsonObject & { readonly name: string; readonly namespace?: string };
    const namespace = this.#namespaceOf(kind, metadata.namespace);
    source.assertFound(namespace, this.#run.object);
    const { ownerReferences, annotations } = this.#mark(namespace, ownerCluster);
    const marked = copyWithout(metadata);
    if (namespace) marked.namespace = namespace;
    if (ownerReferences) marked.ownerReferences = ownerReferences;
    if (annotations) marked.annotations = { ...(metadata.annotations as JsonObject | undefined), ...annotations };
    const desired = copyWithout(stated, "status");
    desired.apiVersion = kind.apiVersion;
    desired.kind = kind.kind;
    desired.metadata = marked;
    const key = keyFor(kind, metadata.name, namespace);
    return { source, key, namespace, ownerCluster, desired: desired as JsonObject };
  }

  /**
   * The compiler reports this too, but users of plain JavaScript have none. A kind that is not owned has no index of
   * owners and is not watched for children.
   */
  #ownedSource(kind: Kind, verb: "apply" | "prune"): KindSource {
    const source = this.#sources.of(kind);
    if (source.isOwned) return source;
    const message = `${source.id} is in uses, not in owns: to ${verb} it, move it to owns`;
    throw new SetpointError("KIND_NOT_DECLARED", message);
  }

  #ownerCluster(kind: Kind): Promise<string | undefined> {
    return this.#sources.of(kind).ownerCluster(this.#run.signal);
  }

  #mark(namespace: string | undefined, ownerCluster: string | undefined): ReturnType<typeof ownerMark> {
    return ownerMark(this.#run.kind, this.#run.object, namespace, ownerCluster);
  }

  /** A child that the selector of its kind still hides from the cache. A child that it would always hide is refused. */
  async #hidden(child: Child): Promise<KubeObject | undefined> {
    const found = await this.#ask(child);
    const { labels } = child.desired.metadata as { readonly labels?: Readonly<Record<string, string>> };
    child.source.assertSelected({ ...found?.metadata.labels, ...labels });
    return found;
  }

  /** Reads a child from the server. */
  #ask({ source, key, namespace }: Child): Promise<KubeObject | undefined> {
    const options = { ...(namespace ? { namespace } : {}), signal: this.#run.currentSignal() };
    return source.cluster.client.find(source.kind, parseKey(key).name, options);
  }

  #learned(kind: Kind, object: KubeObject): KubeObject {
    this.#run.learn(kind, object);
    return object;
  }

  #namespaceOf(kind: Kind, namespace: string | undefined): string | undefined {
    if (kind.scope === "Cluster") return undefined;
    const chosen = namespace ?? this.#run.object.metadata.namespace;
    if (chosen) return chosen;
    const message = `${kindId(kind)}: metadata.namespace is missing, and ${this.#run.key} has no namespace`;
    throw new SetpointError("NAMESPACE_MISSING", message);
  }

  #assertMayTake({ source, key, ownerCluster }: Child, current: KubeObject, options: ChildOptions): void {
    const what = `${source.id} ${key}`;
    if (current.metadata.deletionTimestamp) {
      throw new SetpointError(
        "CHILD_TERMINATING",
        `${what} is being deleted; the controller applies it again once it is gone`,
      );
    }
    const ownership = ownershipOf(current, this.#run.kind, this.#run.object, ownerCluster);
    if (ownership.type === "ours") return;
    if (ownership.type === "another's") {
      if (ownership.isPredecessor) {
        const message = `${what} belongs to a deleted object of the same name, ${this.#run.key}, and has not been garbage collected yet`;
        throw new SetpointError("CHILD_TERMINATING", message);
      }
      throw new SetpointError("CHILD_NOT_OWNED", `${what} belongs to ${ownership.owner}`);
    }
    // This manager applied it before, so this controller created it: a removed owner reference is drift like any other.
    if (options.existing === "adopt" || appliedEntry(current, this.#options.fieldManager)) return;
    throw new SetpointError(
      "CHILD_NOT_OWNED",
      `${what} was created by another writer; pass existing: "adopt" to take it over`,
    );
  }

  #observe(
    source: KindSource,
    key: string,
    before: KubeObject | undefined,
    answer: KubeObject,
    isOwn: OwnChange,
  ): void {
    this.#options.ownWrites.note(source.id, key, this.#run.key, before, answer, isOwn);
    source.observe(answer);
  }

  #record(
    verb: WriteRecord["verb"],
    source: KindSource,
    key: string,
    paths: readonly string[],
    answer: KubeObject | undefined,
    rival?: string,
  ): WriteRecord {
    const resourceVersion = answer?.metadata?.resourceVersion;
    const record: WriteRecord = {
      verb,
      kind: source.id,
      key,
      paths,
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(rival ? { rival } : {}),
    };
    this.#run.writes.push(record);
    return record;
  }
}

/** Drops yielded paths that another manager has taken over: present, but not among the applied fields. */
function withoutYielded(
  desired: JsonObject,
  yields: readonly string[],
  current: KubeObject | undefined,
  entry: JsonObject | undefined,
): JsonObject {
  let kept: unknown = desired;
  for (const path of yields) {
    const steps = splitPath(path);
    if (leadsThroughList(desired, steps)) {
      const message = `yields: "${path}" leads through a list; name the list or a field above it`;
      throw new SetpointError("CONTROLLER_INVALID", message);
    }
    if (current && valueAt(current, steps) !== undefined && !(entry && isApplied(entry, steps))) {
      kept = withoutPath(kept, steps);
    }
  }
  return kept as JsonObject;
}
