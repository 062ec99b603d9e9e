import { type Controller, controller, type KubeObject, requeueAfter, retry, scoped } from "setpoint";
import { type Clock, parseDuration } from "setpoint/clock";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { ConfigMap, PersistentVolumeClaim, Pod, Secret } from "setpoint/kinds/v1";
import type { DruidAccess } from "../api/druid-api.js";
import { accessOf } from "../api/endpoint.js";
import { Druid } from "../druid.js";
import { GoJson } from "../rendering/go-json.js";
import { APP_LABEL, CLUSTER_LABEL, GROUP_LABEL, labelSelector } from "../rendering/naming.js";
import { childrenOf, isOwned, type RenderedCluster, render } from "../rendering/render.js";
import {
  CHILD_KINDS,
  CLUSTER_INDEX,
  type ClusterContext,
  ClusterPass,
  type LiveCluster,
  readCluster,
} from "./cluster-pass.js";
import { type ClusterFindings, conditionsOf, statusOf } from "./cluster-status.js";
import type { DruidQuestions } from "./druid-questions.js";
import { isFailing, isReady } from "./rollout.js";
import { type ClusterSettings, settingsOf } from "./settings.js";
import { StatusPace } from "./status-pace.js";
import { notices, type Problem, validate } from "./validation.js";
import { DELETE_LABEL, DELETED_AT_LABEL, isOfOthers, orphanActions } from "./volumes.js";

export const FINALIZER = "deletepvc.finalizers.druid.apache.org";

export interface DruidsOptions {
  readonly settings: ClusterSettings;
  readonly clock: Clock;
  readonly questions: DruidQuestions;
  readonly urlOf: (druid: Druid) => string | undefined;
  readonly ignores: (object: KubeObject) => boolean;
  readonly namespaces?: readonly string[] | undefined;
  readonly concurrency?: number | undefined;
}

const byCluster = ({ metadata }: KubeObject): readonly string[] => {
  const cluster = metadata.labels?.[CLUSTER_LABEL];
  return cluster ? [`${metadata.namespace}/${cluster}`] : [];
};
const indexes = { [CLUSTER_INDEX]: byCluster };

/** Reconciles the children of each `Druid` object. */
export function druids(options: DruidsOptions): Controller<Druid> {
  const go = new GoJson();
  const forced = new ForcedDeletes(options.clock);
  const pace = new StatusPace(options.clock);
  const { settings, clock, questions } = options;
  const ownChildren = Object.values(CHILD_KINDS).map((kind) => scoped(kind, { indexes }));
  return controller(Druid, {
    name: "druid",
    conditions: "optional",
    owns: [...ownChildren, scoped(PersistentVolumeClaim, { labelSelector: CLUSTER_LABEL, indexes })],
    uses: [
      scoped(Pod, { labelSelector: labelSelector(APP_LABEL), indexes, writes: ["delete", "patch"] }),
      StorageClass,
      Secret,
    ],
    writes: ["patch"],
    triggers: [questions.trigger],
    namespaces: options.namespaces,
    concurrency: options.concurrency ?? 4,
    ignores: options.ignores,
    async reconcile(druid, ctx) {
      const problems = validate(druid, go);
      if (problems.length > 0) return refuse(druid, problems, ctx);
      for (const { path, message } of isNew(druid, ctx) ? notices(druid) : []) {
        ctx.event("Warning", "DruidFieldWithoutEffect", `${path} ${message}`);
      }
      await syncFinalizer(druid, ctx);
      const faults: { reason: string; message: string }[] = [];
      const cluster = render(druid, await extraConfig(druid, ctx, faults), go);
      const live = await readCluster(druid, ctx);
      const own = settingsOf(druid, settings);
      questions.learn(druid, await accessFor(druid, ctx, options));
      const pass = new ClusterPass({ druid, ctx, settings: own, live, questions, go });
      const states = await pass.deploy(cluster);
      const deletedMs = await forced.run(druid, live, cluster, ctx);
      const sweptMs = druid.spec.deleteOrphanPvc
        ? await sweepClaims(cluster, live, own, clock.now(), ctx)
        : Number.POSITIVE_INFINITY;
      const isSettled = states.every(({ phase }) => phase === "Ready" || phase === "Resizing");
      const names = await prune(druid, cluster, live, isSettled, ctx);
      report(pass, ctx, own, faults);
      const findings: ClusterFindings = { states, live, names, faults };
      const conditions = conditionsOf(druid, findings);
      const pauseMs = pace.pauseMs(druid, conditions);
      if (pauseMs === 0) {
        for (const condition of conditions) ctx.condition(condition);
        ctx.status(statusOf(druid, findings));
      }
      if (pass.failures[0]) return retry(pass.failures[0]);
      const recheckMs = Math.min(pass.recheckMs, deletedMs, sweptMs, pauseMs || Number.POSITIVE_INFINITY);
      return Number.isFinite(recheckMs) ? requeueAfter(recheckMs) : undefined;
    },
    async deleting(druid, ctx) {
      questions.forget(`${druid.metadata.namespace}/${druid.metadata.name}`);
      pace.forget(druid.metadata.uid);
      if (!druid.metadata.finalizers?.includes(FINALIZER)) return;
      if (!druid.spec.disablePVCDeletionFinalizer) {
        const live = await readCluster(druid, ctx);
        const sets = live.children.filter(({ kind }) => kind === StatefulSet.kind);
        const [own, foreign] = [sets.filter((set) => isOwned(set, druid)), sets.filter((set) => !isOwned(set, druid))];
        ctx.event("Normal", "DruidOperatorFinalizerTriggered", "deleting the StatefulSets and their volumes");
        for (const { metadata } of own) {
          await ctx.delete(StatefulSet, metadata.name, { preconditions: { uid: metadata.uid } });
        }
        const claims = live.claims.filter((claim) => !isOfOthers(claim, druid, foreign));
        for (const { metadata } of claims) {
          await ctx.delete(PersistentVolumeClaim, metadata.name, { preconditions: { uid: metadata.uid } });
        }
        ctx.event("Normal", "DruidFinalizerSuccess", `deleted ${claims.length} volume claims`);
      }
      await setFinalizers(druid, ctx, (finalizers) => finalizers.filter((each) => each !== FINALIZER));
    },
  });
}

/** Whether this is the first run for the object's generation. */
function isNew({ metadata, status }: Druid, ctx: ClusterContext): boolean {
  const observed = status?.observedGeneration;
  return (
    ctx.causes.some(({ type }) => type === "created") || (observed !== undefined && observed !== metadata.generation)
  );
}

/** Reports the problem and changes nothing; the controller reconciles again when the object changes. */
function refuse({ metadata, kind }: Druid, problems: readonly Problem[], ctx: ClusterContext): void {
  const message = problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
  ctx.event("Warning", "DruidOperatorInvalidSpec", `invalid DruidSpec[${kind}:${metadata.name}] due to [${message}]`);
  ctx.condition({ type: "SpecValid", status: "False", reason: "InvalidSpec", message });
  ctx.condition({ type: "Ready", status: "False", reason: "InvalidSpec", message });
}

async function syncFinalizer(druid: Druid, ctx: ClusterContext): Promise<void> {
  const isThere = druid.metadata.finalizers?.includes(FINALIZER) ?? false;
  const isWanted = !druid.spec.disablePVCDeletionFinalizer;
  if (isWanted === isThere) return;
  await setFinalizers(druid, ctx, (all) => (isWanted ? [...all, FINALIZER] : all.filter((each) => each !== FINALIZER)));
}

/** The resourceVersion lets the server refuse a change that was computed from an older list. */
async function setFinalizers(
  { metadata }: Druid,
  ctx: ClusterContext,
  change: (finalizers: readonly string[]) => readonly string[],
): Promise<void> {
  const { uid, resourceVersion, finalizers = [] } = metadata;
  const body = { metadata: { uid, resourceVersion, finalizers: change(finalizers) } };
  await ctx.patch(Druid, metadata.name, { type: "merge", body });
}

async function extraConfig(
  { spec, metadata }: Druid,
  ctx: ClusterContext,
  faults: { reason: string; message: string }[],
): Promise<readonly Readonly<Record<string, string>>[]> {
  const found = [];
  for (const { name = "", namespace = metadata.namespace } of spec.extraCommonConfig ?? []) {
    const map = await ctx.find(ConfigMap, name, { namespace });
    if (map) found.push(map.data ?? {});
    else {
      const message = `spec.extraCommonConfig: there is no ConfigMap ${namespace}/${name}`;
      ctx.event("Warning", "DruidExtraConfigMissing", message);
      faults.push({ reason: "ExtraConfigMissing", message });
    }
  }
  return found;
}

/** Undefined if the cluster has no router or its credentials are missing. The rollout then does not ask Druid. */
async function accessFor(
  druid: Druid,
  ctx: ClusterContext,
  { urlOf }: DruidsOptions,
): Promise<DruidAccess | undefined> {
  const url = urlOf(druid);
  return url === undefined ? undefined : accessOf(druid, druid.spec.auth, url, ctx).catch(() => undefined);
}

/** Deletes owned children that left the spec. Returns the names of the remaining ones by kind. */
async function prune(
  druid: Druid,
  cluster: RenderedCluster,
  live: LiveCluster,
  isSettled: boolean,
  ctx: ClusterContext,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const wanted = childrenOf(cluster);
  const names: Record<string, string[]> = {};
  for (const {
    kind,
    metadata: { name },
  } of wanted)
    (names[kind] ??= []).push(name);
  const isWanted = (kind: string, name: string): boolean => names[kind]?.includes(name) ?? false;
  for (const { kind, metadata: child } of live.children) {
    if (isWanted(kind, child.name) || child.deletionTimestamp) continue;
    if (!isOwned({ metadata: child }, druid)) continue;
    // A group that changes between StatefulSet and Deployment keeps its old workload until the new one is ready.
    const other = kind === "StatefulSet" ? "Deployment" : kind === "Deployment" ? "StatefulSet" : undefined;
    if (other && isWanted(other, child.name) && !isSettled) continue;
    await ctx.delete(CHILD_KINDS[kind as keyof typeof CHILD_KINDS], child.name, { preconditions: { uid: child.uid } });
    ctx.event("Normal", "DruidOperatorDeleteSuccess", `deleted ${kind} ${child.name}, which left the spec`);
  }
  return names;
}

/** Marks, unmarks and deletes claims that no pod needs. Returns the requeue delay. */
async function sweepClaims(
  cluster: RenderedCluster,
  live: LiveCluster,
  { orphanGrace }: ClusterSettings,
  nowMs: number,
  ctx: ClusterContext,
): Promise<number> {
  const graceMs = parseDuration(orphanGrace, "orphanGrace");
  const sets = live.children.filter((each): each is StatefulSet => each.kind === StatefulSet.kind);
  let recheckMs = Number.POSITIVE_INFINITY;
  for (const action of orphanActions(live.claims, live.pods, cluster.groups, sets, nowMs, graceMs)) {
    const { name, uid, resourceVersion } = action.claim.metadata;
    if (action.type === "wait") recheckMs = Math.min(recheckMs, action.ms);
    else if (action.type === "delete") {
      await ctx.delete(PersistentVolumeClaim, name, { preconditions: { uid, resourceVersion } });
      ctx.event(
        "Normal",
        "DruidOperatorDeleteSuccess",
        `deleted PersistentVolumeClaim ${name}: no pod has needed it for ${orphanGrace}`,
      );
    } else {
      const isMarking = action.type !== "unmark";
      const labels = {
        [DELETE_LABEL]: isMarking ? "yes" : null,
        [DELETED_AT_LABEL]: isMarking ? String(Math.floor(nowMs / 1000)) : null,
      };
      await ctx.patch(PersistentVolumeClaim, name, { type: "merge", body: { metadata: { uid, labels } } });
      if (isMarking) recheckMs = Math.min(recheckMs, graceMs);
      if (action.type === "repair") {
        ctx.event(
          "Warning",
          "DruidOperatorPatchSuccess",
          `${name}: its label ${DELETED_AT_LABEL} was not a time, and is set again`,
        );
      }
    }
  }
  return recheckMs;
}

/** Emits at most one event of each type per pass, however many objects it covers. */
function report(
  { created, updated, drifted, failures }: ClusterPass,
  ctx: ClusterContext,
  { drift }: ClusterSettings,
  faults: { reason: string; message: string }[],
): void {
  if (created.length > 0) ctx.event("Normal", "DruidOperatorCreateSuccess", `created ${created.join(", ")}`);
  if (updated.length > 0) ctx.event("Normal", "DruidOperatorUpdateSuccess", `updated ${updated.join(", ")}`);
  if (drifted.length > 0) {
    const what = drift === "revert" ? "changed by others; reverted" : "changed by others";
    ctx.event("Warning", "DruidDrift", `${what}: ${drifted.join("; ")}`);
    if (drift === "report") faults.push({ reason: "Drift", message: drifted.join("; ") });
  }
  for (const { message } of failures) faults.push({ reason: "ChildRefused", message });
}

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 300_000;

/** Deletes failing pods of OrderedReady StatefulSets, which would otherwise be stuck. Backs off per pod. */
class ForcedDeletes {
  readonly #clock: Clock;
  /** By the uid of the Druid object and the pod's name. */
  readonly #deleted = new Map<string, { uid: string; atMs: number; pauseMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the requeue delay for pods in backoff. */
  async run(druid: Druid, { pods }: LiveCluster, { groups }: RenderedCluster, ctx: ClusterContext): Promise<number> {
    let recheckMs = Number.POSITIVE_INFINITY;
    if (!druid.spec.forceDeleteStsPodOnError) return recheckMs;
    const ordered = groups.filter(({ workload }) => workload.spec.podManagementPolicy === "OrderedReady");
    const names = new Set(ordered.map(({ name }) => name));
    for (const pod of pods) {
      const { name, uid, labels, deletionTimestamp } = pod.metadata;
      const id = `${druid.metadata.uid} ${name}`;
      const last = this.#deleted.get(id);
      // A crash-looping pod is briefly ready between crashes. Reset the backoff only after a long ready period.
      if (last && isReady(pod) && this.#clock.now() > last.atMs + 2 * LONGEST_PAUSE_MS) this.#deleted.delete(id);
      if (!names.has(labels?.[GROUP_LABEL] ?? "") || !isFailing(pod) || deletionTimestamp || last?.uid === uid)
        continue;
      const now = this.#clock.now();
      if (last && now < last.atMs + last.pauseMs) {
        recheckMs = Math.min(recheckMs, last.atMs + last.pauseMs - now);
        continue;
      }
      await ctx.delete(Pod, name, { preconditions: { uid } });
      const pauseMs = last ? Math.min(last.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
      this.#deleted.set(id, { uid, atMs: now, pauseMs });
      ctx.event(
        "Warning",
        "DruidOperatorDeleteSuccess",
        `deleted the failing pod ${name}, so that its StatefulSet continues`,
      );
    }
    return recheckMs;
  }
}
