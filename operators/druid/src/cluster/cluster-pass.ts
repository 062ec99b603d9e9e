import type { Kind, KubeObject, ReconcileContext } from "setpoint";
import { ApiError, isForbidden, isInvalid } from "setpoint/client";
import { Deployment, StatefulSet } from "setpoint/kinds/apps/v1";
import { HorizontalPodAutoscaler } from "setpoint/kinds/autoscaling/v2";
import { Ingress } from "setpoint/kinds/networking.k8s.io/v1";
import { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { ConfigMap, PersistentVolumeClaim, Pod, Service } from "setpoint/kinds/v1";
import type { Druid, NodeGroupStatus } from "../druid.js";
import type { GoJson } from "../rendering/go-json.js";
import { GROUP_LABEL } from "../rendering/naming.js";
import {
  asApplied,
  type Child,
  HASH_ANNOTATION,
  type NodeGroup,
  ownerOf,
  type RenderedCluster,
  type WorkloadChild,
} from "../rendering/render.js";
import { isOwnValue, missingFrom } from "./difference.js";
import type { DruidQuestions } from "./druid-questions.js";
import { inOrder, isOlderImage } from "./order.js";
import {
  asLive,
  batchOf,
  changeOf,
  hashWith,
  held,
  immutableChanges,
  isObserved,
  isReady,
  isWorker,
  type LiveWorkload,
  partitionOf,
  podsOfSet,
  podTrouble,
  progressOf,
  type RolloutAction,
  replicasOf,
  revisionOf,
  type SetPod,
} from "./rollout.js";
import type { ClusterSettings } from "./settings.js";
import { claimsToGrow, expansionOf, resizeState } from "./volumes.js";

/** The kinds of children, in the order in which stale children are deleted. */
export const CHILD_KINDS = {
  StatefulSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  PodDisruptionBudget,
  Service,
  ConfigMap,
} as const;
export const KINDS: Readonly<Record<string, Kind>> = { ...CHILD_KINDS, PersistentVolumeClaim };

/** The index of a cluster's objects. Its key is the `namespace/name` of the Druid object. */
export const CLUSTER_INDEX = "cluster";

export type ClusterContext = ReconcileContext<Druid>;

/** The live objects of a cluster. */
export interface LiveCluster {
  readonly children: readonly KubeObject[];
  readonly pods: readonly Pod[];
  readonly claims: readonly PersistentVolumeClaim[];
}

export async function readCluster({ metadata }: Druid, ctx: ClusterContext): Promise<LiveCluster> {
  const key = `${metadata.namespace}/${metadata.name}`;
  const read = <K extends Kind>(kind: K) => ctx.byIndex(kind, { [CLUSTER_INDEX]: key });
  const children = await Promise.all(Object.values(CHILD_KINDS).map((kind) => read(kind as Kind)));
  return { children: children.flat(), pods: await read(Pod), claims: await read(PersistentVolumeClaim) };
}

export interface GroupState {
  readonly group: NodeGroup;
  readonly change: RolloutAction;
  readonly live: LiveWorkload | undefined;
  readonly phase: "Ready" | "Rolling" | "Waiting" | "Resizing" | "Refused";
  readonly message: string;
}

export interface PassInput {
  readonly druid: Druid;
  readonly ctx: ClusterContext;
  readonly settings: ClusterSettings;
  readonly live: LiveCluster;
  readonly questions: DruidQuestions;
  readonly go: GoJson;
}

/** One pass over a cluster's children: applies what the rollout allows now, and collects the results. */
export class ClusterPass {
  readonly created: string[] = [];
  readonly updated: string[] = [];
  readonly drifted: string[] = [];
  readonly failures: Error[] = [];
  /** Requeue delay for conditions that no watch event reports. */
  recheckMs = Number.POSITIVE_INFINITY;
  readonly #given: PassInput;
  readonly #rehash: (child: WorkloadChild) => string;

  constructor(given: PassInput) {
    this.#given = given;
    this.#rehash = hashWith(given.go, ownerOf(given.druid));
  }

  /** Creates never wait. With `rollingDeploy`, an update waits until the groups before it are done. */
  async deploy(cluster: RenderedCluster): Promise<readonly GroupState[]> {
    await this.#apply(cluster.common);
    const { rolloutOrder } = this.#given.settings;
    const isDowngrade = cluster.groups.some(({ workload }) =>
      isOlderImage(imageOf(workload), imageOf(this.#workload(workload))),
    );
    const groups = inOrder(cluster.groups, rolloutOrder, isDowngrade);
    const changes = groups.map(({ workload }) => changeOf(workload, this.#workload(workload), this.#rehash));
    const states: GroupState[] = [];
    let heldBy: string | undefined;
    for (const [at, group] of groups.entries()) {
      const isUpdatePending = changes.slice(at + 1).includes("update");
      const state = await this.#group(group, changes[at]!, heldBy, isUpdatePending);
      states.push(state);
      if (this.#given.druid.spec.rollingDeploy && state.phase !== "Ready" && state.phase !== "Resizing")
        heldBy ??= group.name;
    }
    return states;
  }

  async #group(
    group: NodeGroup,
    change: RolloutAction,
    heldBy: string | undefined,
    isUpdatePending: boolean,
  ): Promise<GroupState> {
    const live = this.#workload(group.workload);
    if (change === "update" && heldBy !== undefined) {
      await this.#satellites(group, false);
      return { group, change, live, phase: "Waiting", message: `its update waits for ${heldBy}` };
    }
    const wanted = asLive(group, live, podsOfSet(group, this.#given.live.pods));
    const obstacle = live && change !== "none" ? await this.#overcome(group, wanted, live) : undefined;
    if (obstacle) {
      await this.#satellites(group, false);
      return { group, change, live, ...obstacle };
    }
    await this.#apply(group.configMap);
    const isRemade = live !== undefined && this.#workload(group.workload) === undefined;
    if (!live || isRemade) await this.#relabel(group);
    const step = this.#step(group, wanted, live, change === "update");
    const yields = group.node.hpAutoscaler ? ["spec.replicas"] : [];
    const applied = ((await this.#apply(step.workload, yields)) ?? live) as LiveWorkload | undefined;
    const progress = applied && progressOf(applied);
    const isStepDone = progress?.isDone === true && step.message === "";
    await this.#satellites(group, isStepDone && !progress.isRolling);
    if (!applied || !isStepDone || progress.isRolling) {
      const message = [step.message, progress?.message, ...this.#troubles(group)].filter(Boolean).join("; ");
      return { group, change, live: applied, phase: "Rolling", message };
    }
    if (isUpdatePending && group.node.nodeType === "historical") {
      const missing = this.#segments(`${applied.metadata.uid} ${applied.metadata.generation}`);
      if (missing) return { group, change, live: applied, phase: "Rolling", message: missing };
    }
    const resizing = this.#claimsOf(group)
      .map(resizeState)
      .filter((each) => each !== undefined);
    if (resizing.length > 0) return { group, change, live: applied, phase: "Resizing", message: resizing.join("; ") };
    return { group, change, live: applied, phase: "Ready", message: progress.message };
  }

  /** The workload to apply now: updates go in batches, and busy middle managers are not scaled away. */
  #step(
    group: NodeGroup,
    wanted: WorkloadChild,
    live: LiveWorkload | undefined,
    isUpdate: boolean,
  ): { readonly workload: WorkloadChild; readonly message: string } {
    if (wanted.kind !== "StatefulSet") return { workload: wanted, message: "" };
    const batch = this.#given.druid.spec.rollingDeploy ? batchOf(group, this.#given.settings.batch) : 0;
    const pods = podsOfSet(group, this.#given.live.pods);
    // No StatefulSet but pods of one: we deleted it with orphan propagation, and the new one adopts its pods.
    const [has, wants] = [live ? (live.spec?.replicas ?? 1) : replicasOf(pods), wanted.spec.replicas ?? 1];
    const isShrinking = isWorker(group) && wants < has;
    const isHeld = isUpdate || !live || !isObserved(live);
    const now = isUpdate || !live ? held(wanted, has, batch) : partitionOf(wanted, live as StatefulSet, pods, batch);
    let message = isHeld ? undefined : this.#batchObstacle(group, live as StatefulSet, pods, now);
    const next = isHeld || isShrinking ? now : Math.max(0, now - batch);
    const going = isShrinking ? range(wants, has) : message ? [] : range(next, now);
    if (isWorker(group) && going.length > 0) message ??= this.#drain(group, going);
    const partition = message ? now : next;
    const replicas = isShrinking && message ? has : wanted.spec.replicas;
    const rollingUpdate = {
      ...wanted.spec.updateStrategy?.rollingUpdate,
      partition,
      ...(batch > 1 ? { maxUnavailable: batch } : {}),
    };
    const updateStrategy =
      partition > 0 ? { type: "RollingUpdate" as const, rollingUpdate } : wanted.spec.updateStrategy;
    return { workload: { ...wanted, spec: { ...wanted.spec, replicas, updateStrategy } }, message: message ?? "" };
  }

  /** Why the next batch must wait: pods at or above the partition are not replaced, or segments are still loading. */
  #batchObstacle(
    { node }: NodeGroup,
    { spec, status, metadata }: StatefulSet,
    pods: readonly SetPod[],
    partition: number,
  ): string | undefined {
    const replicas = spec?.replicas ?? 1;
    if (partition === 0 || partition >= replicas) return undefined;
    const replaced = pods.filter(
      ({ ordinal, pod }) => ordinal >= partition && isReady(pod) && revisionOf(pod) === status?.updateRevision,
    );
    if (replaced.length < replicas - partition) return `replaced down to ordinal ${partition}`;
    return node.nodeType === "historical" ? this.#segments(`${metadata.uid} ${metadata.generation}`) : undefined;
  }

  /** Handles changes to immutable fields: expands volumes, recreates the workload, or refuses with a message. */
  async #overcome(
    group: NodeGroup,
    wanted: WorkloadChild,
    live: LiveWorkload,
  ): Promise<Pick<GroupState, "phase" | "message"> | undefined> {
    const immutable = immutableChanges(wanted, live);
    if (immutable.length > 0) return this.#remake(group, live, immutable);
    if (live.kind === "Deployment") return undefined;
    const classes = await this.#storageClasses(wanted);
    const expansion = expansionOf(wanted, live, classes, this.#given.druid.spec.scalePvcSts);
    if (expansion.type === "none") return undefined;
    if (expansion.type === "refuse") {
      this.#given.ctx.event("Warning", "DruidOperatorPvcReSizeFail", `${group.name}: ${expansion.message}`);
      return { phase: "Refused", message: expansion.message };
    }
    if (expansion.type === "wait") return { phase: "Waiting", message: expansion.message };
    this.#given.ctx.event("Normal", "DruidOperatorPvcReSizeDetected", expansion.message);
    // Claims first: the recreated StatefulSet has the new size, so a later run would not notice claims of the old size.
    for (const { claim, size } of claimsToGrow(group.name, expansion.sizes, this.#claimsOf(group))) {
      const body = { spec: { resources: { requests: { storage: size } } } };
      await this.#given.ctx.patch(PersistentVolumeClaim, claim.metadata.name, { type: "merge", body });
    }
    await this.#orphan(live);
    return undefined;
  }

  async #remake(
    group: NodeGroup,
    live: LiveWorkload,
    fields: readonly string[],
  ): Promise<Pick<GroupState, "phase" | "message"> | undefined> {
    const what = `${live.kind} ${group.name} cannot change its ${fields.join(", ")}`;
    if (this.#given.settings.immutableChanges === "refuse") {
      const cure = "undo the change, or set the annotation druid.setpoint.dev/immutable-changes to recreate";
      this.#given.ctx.event("Warning", "DruidOperatorUpdateFail", `${what}; ${cure}`);
      return { phase: "Refused", message: `${what}; ${cure}` };
    }
    await this.#orphan(live);
    return undefined;
  }

  /** Deletes the workload. Pods of a StatefulSet stay for the next one to adopt; pods of a Deployment are deleted. */
  async #orphan(live: LiveWorkload): Promise<void> {
    const { name, uid } = live.metadata;
    const isSet = live.kind === "StatefulSet";
    const kind: Kind = isSet ? StatefulSet : Deployment;
    await this.#given.ctx.delete(kind, name, { preconditions: { uid }, propagation: isSet ? "Orphan" : "Background" });
    this.#gone.add(uid);
    this.#given.ctx.event(
      "Normal",
      isSet ? "DruidOperatorStsOrphaned" : "DruidOperatorDeleteSuccess",
      `${live.kind} ${name} is recreated`,
    );
  }

  /** Relabels the pods of a recreated StatefulSet, so that they match its selector and it adopts them. */
  async #relabel(group: NodeGroup): Promise<void> {
    if (group.workload.kind !== "StatefulSet") return;
    for (const { pod } of podsOfSet(group, this.#given.live.pods)) {
      const { metadata } = pod;
      if (missingFrom(metadata.labels, group.labels).length === 0) continue;
      await this.#given.ctx.patch(Pod, metadata.name, {
        type: "merge",
        body: { metadata: { uid: metadata.uid, labels: group.labels } },
      });
    }
  }

  /** Applies Services and other children. A Service keeps its old selector until pods with the new labels run. */
  async #satellites(group: NodeGroup, isRolledOut: boolean): Promise<void> {
    for (const service of group.services) {
      const live = this.#find(service) as Service | undefined;
      const isSwitched =
        live && missingFrom(live.spec?.selector, (service.spec as Service["spec"])?.selector).length > 0;
      if (!isSwitched || isRolledOut) await this.#apply(service);
    }
    for (const child of group.others) {
      const isBudget = child.kind === "PodDisruptionBudget" && this.#find(child) !== undefined;
      if (!isBudget || isRolledOut) await this.#apply(child);
    }
  }

  async #apply(child: Child, yields: readonly string[] = []): Promise<KubeObject | undefined> {
    const live = this.#find(child);
    const { annotations: _annotations, ...metadata } = child.metadata;
    const isSameHash = live?.metadata.annotations?.[HASH_ANNOTATION] === child.metadata.annotations?.[HASH_ANNOTATION];
    const drift =
      live && isSameHash
        ? missingFrom(live, { ...child, metadata }).filter((path) => !yields.includes(path) && !isOwnValue(live, path))
        : [];
    const name = `${child.kind} ${child.metadata.name}`;
    if (drift.length > 0 && this.#given.settings.drift === "report") {
      this.drifted.push(`${name}: ${drift.join(", ")}`);
      return live;
    }
    try {
      const applied = await this.#given.ctx.apply(KINDS[child.kind]!, asApplied(child) as never, { yields });
      if (!live) this.created.push(name);
      else if (applied.metadata.resourceVersion !== live.metadata.resourceVersion) {
        if (!isSameHash) this.updated.push(name);
        else if (drift.length > 0) this.drifted.push(`${name}: ${drift.join(", ")}`);
      }
      return applied;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#given.ctx.event(
        "Warning",
        live ? "DruidOperatorUpdateFail" : "DruidOperatorCreateFail",
        `${name}: ${error.message}`,
      );
      this.failures.push(error);
      return live;
    }
  }

  /**
   * Why segments are not fully loaded; undefined if they are, or if Druid was unreachable for longer than the timeout.
   * `step` identifies the batch, so that an answer from an earlier batch does not count.
   */
  #segments(step: string): string | undefined {
    return this.#wait(this.#given.questions.segments(this.#given.druid, step, this.#given.ctx, this.#given.settings));
  }

  #drain(group: NodeGroup, ordinals: readonly number[]): string | undefined {
    const names = new Set(ordinals.map((ordinal) => `${group.name}-${ordinal}`));
    const pods = this.#podsOf(group).filter(({ metadata }) => names.has(metadata.name));
    return this.#wait(
      this.#given.questions.drained(
        this.#given.druid,
        pods,
        group.node["druid.port"],
        this.#given.ctx,
        this.#given.settings,
      ),
    );
  }

  #wait(reason: string | undefined): string | undefined {
    if (reason) this.recheckMs = Math.min(this.recheckMs, 10_000);
    return reason;
  }

  #troubles(group: NodeGroup): readonly string[] {
    return this.#podsOf(group).flatMap((pod) => {
      const trouble = podTrouble(pod);
      return trouble ? [`pod ${pod.metadata.name}: ${trouble}`] : [];
    });
  }

  async #storageClasses(workload: WorkloadChild): Promise<ReadonlyMap<string, StorageClass>> {
    if (!this.#given.druid.spec.scalePvcSts) return new Map();
    const names = (workload.spec.volumeClaimTemplates ?? []).map(({ spec }) => spec?.storageClassName ?? "");
    const found = await Promise.all([...new Set(names)].map((name) => this.#given.ctx.find(StorageClass, name)));
    return new Map(found.flatMap((each) => (each ? [[each.metadata.name, each] as const] : [])));
  }

  readonly #gone = new Set<string>();

  #find({ kind, metadata }: Child): KubeObject | undefined {
    const all: readonly KubeObject[] =
      kind === "PersistentVolumeClaim" ? this.#given.live.claims : this.#given.live.children;
    return all.find(
      (each) => each.kind === kind && each.metadata.name === metadata.name && !this.#gone.has(each.metadata.uid),
    );
  }

  #workload(child: Child): LiveWorkload | undefined {
    return this.#find(child) as LiveWorkload | undefined;
  }

  #podsOf({ name }: NodeGroup): readonly Pod[] {
    return this.#given.live.pods.filter(({ metadata }) => metadata.labels?.[GROUP_LABEL] === name);
  }

  #claimsOf({ name }: NodeGroup): readonly PersistentVolumeClaim[] {
    return this.#given.live.claims.filter(({ metadata }) => metadata.labels?.[GROUP_LABEL] === name);
  }
}

export function tableRow({ group, live, phase, message }: GroupState): NodeGroupStatus {
  const { replicas, ready, updated } = live
    ? progressOf(live)
    : { replicas: group.node.replicas ?? 0, ready: 0, updated: 0 };
  return {
    name: group.key,
    nodeType: group.node.nodeType,
    kind: group.workload.kind,
    replicas,
    ready,
    updated,
    phase,
    message,
  };
}

/** Errors that a retry cannot fix: invalid objects, missing permissions and unknown fields. */
export function isRefusal(error: unknown): error is Error {
  return (
    isInvalid(error) || isForbidden(error) || (error instanceof ApiError && /typed patch object/.test(error.message))
  );
}

function imageOf(
  workload: { readonly spec?: Pick<WorkloadChild["spec"], "template"> } | undefined,
): string | undefined {
  return workload?.spec?.template.spec?.containers[0]?.image;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}
