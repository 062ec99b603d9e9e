import { isSameJson } from "setpoint/kinds";
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from "setpoint/kinds/apps/v1";
import type { PodTemplateSpec } from "setpoint/kinds/v1";
import type { JsonObject } from "../../api/json.js";
import { controllerReference } from "../owner-claims.js";
import { templateHash } from "../template-hash.js";
import {
  conditionOf,
  hasDeadline,
  isComplete,
  PROGRESSING,
  plainStatus,
  rolloutStatus,
  withCondition,
} from "./deployment-status.js";
import {
  availableOf,
  byCreation,
  isRollingUpdate,
  isSaturated,
  maxSurge,
  maxUnavailable,
  newSetReplicas,
  proportionalSizes,
  replicasOf,
  sum,
} from "./replica-counts.js";
import {
  annotationsFor,
  DESIRED_REPLICAS,
  nextRevision,
  numberOf,
  REVISION,
  revisionOf,
  scaleAnnotations,
} from "./revision.js";

const HASH_LABEL = "pod-template-hash";
const MAX_NAME = 253;
const NO_LIMIT = 2_147_483_647;

/** A change of one ReplicaSet. */
export interface SetChange {
  readonly set: ReplicaSet;
  readonly replicas?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly minReadySeconds?: number;
}

/** One step of a Deployment, with its writes in order. */
export interface DeploymentPlan {
  /** The ReplicaSet to create. */
  readonly created: ReplicaSet | undefined;
  /** Written first: the revision, and the condition that the step begins with. */
  readonly revision: string | undefined;
  readonly opening: readonly DeploymentCondition[] | undefined;
  readonly changes: readonly SetChange[];
  readonly removed: readonly ReplicaSet[];
  readonly status: DeploymentStatus;
}

/**
 * The next step of a Deployment, given its ReplicaSets and whether pods of old ones still live. Each step changes one
 * thing and reports the status from before it. The next run takes the next step.
 */
export function planDeployment(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  hasOldPods: boolean,
  nowMs: number,
): DeploymentPlan {
  return new Planner(deployment, [...sets].sort(byCreation), nowMs).plan(hasOldPods);
}

/** The oldest ReplicaSet with the Deployment's template. */
export function newestOf({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const wanted = withoutHash(spec.template);
  return sets.find((set) => isSameJson(withoutHash(set.spec.template), wanted));
}

function withoutHash(template: PodTemplateSpec | undefined): JsonObject {
  const { [HASH_LABEL]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } } as unknown as JsonObject;
}

class Planner {
  #deployment: Deployment;
  readonly #old: readonly ReplicaSet[];
  readonly #nowMs: number;
  readonly #changes = new Map<string, SetChange>();
  readonly #removed: ReplicaSet[] = [];
  #newest: ReplicaSet | undefined;
  #created: ReplicaSet | undefined;
  #revision: string | undefined;
  #opening: readonly DeploymentCondition[] | undefined;

  constructor(deployment: Deployment, sets: readonly ReplicaSet[], nowMs: number) {
    this.#deployment = deployment;
    this.#nowMs = nowMs;
    this.#newest = newestOf(deployment, sets);
    this.#old = sets.filter((set) => set !== this.#newest);
  }

  plan(hasOldPods: boolean): DeploymentPlan {
    const { paused } = this.#deployment.spec;
    this.#tellPause(paused === true);
    if (this.#newest) this.#updateNewest(this.#newest);
    if (paused || this.#isScaled()) return this.#scale(paused === true);
    return isRollingUpdate(this.#deployment) ? this.#roll() : this.#recreate(hasOldPods);
  }

  get #all(): readonly ReplicaSet[] {
    return this.#newest ? [...this.#old, this.#newest] : this.#old;
  }

  #step(status: DeploymentStatus): DeploymentPlan {
    return {
      created: this.#created,
      revision: this.#revision,
      opening: this.#opening,
      changes: [...this.#changes.values()],
      removed: this.#removed,
      status,
    };
  }

  #rolloutStep(): DeploymentPlan {
    const status = rolloutStatus(this.#deployment, this.#all, this.#newest, this.#nowMs);
    if (isComplete(this.#deployment, status)) this.#cleanUp();
    return this.#step(status);
  }

  /** Sets a condition that is written before the step. The rest of the step builds on it. */
  #open(condition: Omit<DeploymentCondition, "lastTransitionTime" | "lastUpdateTime">): void {
    const conditions = withCondition(this.#deployment.status?.conditions ?? [], condition, this.#nowMs);
    this.#opening = conditions;
    this.#deployment = { ...this.#deployment, status: { ...this.#deployment.status, conditions } };
  }

  #tellPause(isPaused: boolean): void {
    if (!hasDeadline(this.#deployment)) return;
    const reason = conditionOf(this.#deployment.status?.conditions, PROGRESSING)?.reason;
    if (reason === "ProgressDeadlineExceeded" || isPaused === (reason === "DeploymentPaused")) return;
    const [why, word] = isPaused ? ["DeploymentPaused", "paused"] : ["DeploymentResumed", "resumed"];
    this.#open({ type: PROGRESSING, status: "Unknown", reason: why, message: `Deployment is ${word}` });
  }

  /** Updates revision, annotations and minReadySeconds of the newest ReplicaSet, and the Deployment's revision. */
  #updateNewest(newest: ReplicaSet): void {
    const { annotations: current = {} } = newest.metadata;
    const annotations = annotationsFor(this.#deployment, current, nextRevision(this.#old));
    const { minReadySeconds = 0 } = this.#deployment.spec;
    const isOther = !isSameJson(annotations, current);
    if (isOther || (newest.spec.minReadySeconds ?? 0) !== minReadySeconds) {
      this.#change(newest, { annotations, minReadySeconds });
      this.#newest = {
        ...newest,
        metadata: { ...newest.metadata, annotations },
        spec: { ...newest.spec, minReadySeconds },
      };
    }
    this.#setRevision(annotations[REVISION]);
    if (hasDeadline(this.#deployment) && !conditionOf(this.#deployment.status?.conditions, PROGRESSING)) {
      const message = `Found new replica set "${newest.metadata.name}"`;
      this.#open({ type: PROGRESSING, status: "True", reason: "FoundNewReplicaSet", message });
    }
  }

  #setRevision(revision: string | undefined): void {
    if (revision !== this.#deployment.metadata.annotations?.[REVISION]) this.#revision = revision;
  }

  #create(): ReplicaSet {
    const created = newReplicaSet(this.#deployment, this.#old);
    this.#newest = created;
    this.#created = created;
    this.#setRevision(created.metadata.annotations?.[REVISION]);
    // kube-controller-manager reports one thing at a time. A run that begins with reporting a pause or resume reports
    // nothing else.
    if (hasDeadline(this.#deployment) && !this.#opening) {
      const message = `Created new replica set "${created.metadata.name}"`;
      this.#open({ type: PROGRESSING, status: "True", reason: "NewReplicaSetCreated", message });
    }
    return created;
  }

  /** Whether the Deployment was scaled since its ReplicaSets were last sized. */
  #isScaled(): boolean {
    return this.#all.some((set) => {
      const desired = numberOf(set.metadata.annotations?.[DESIRED_REPLICAS]);
      return replicasOf(set) > 0 && desired !== undefined && desired !== replicasOf(this.#deployment);
    });
  }

  #scale(isPaused: boolean): DeploymentPlan {
    const active = this.#all.filter((set) => replicasOf(set) > 0);
    const only = active.length > 1 ? undefined : (active[0] ?? this.#newest ?? this.#old.at(-1));
    if (only) this.#resize(only, replicasOf(this.#deployment));
    else if (active.length > 1 && isSaturated(this.#deployment, this.#newest)) {
      for (const set of active) if (set !== this.#newest) this.#resize(set, 0);
    } else if (active.length > 1 && isRollingUpdate(this.#deployment)) {
      const sizes = proportionalSizes(this.#deployment, active);
      for (const set of active) this.#resize(set, sizes.get(set.metadata.name)!, true);
    }
    if (isPaused) this.#cleanUp();
    return this.#step(plainStatus(this.#deployment, this.#all, this.#newest, this.#nowMs));
  }

  #roll(): DeploymentPlan {
    const newest = this.#newest ?? this.#create();
    if (newest === this.#created) return this.#rolloutStep();
    const replicas = replicasOf(this.#deployment);
    const size = replicasOf(newest);
    const wanted = size > replicas ? replicas : newSetReplicas(this.#deployment, this.#all, size);
    if (size !== replicas && this.#resize(newest, wanted)) return this.#rolloutStep();
    if (this.#shrinkOld(newest)) return this.#rolloutStep();
    return this.#rolloutStep();
  }

  /** Scales old ReplicaSets down as far as availability permits: first pods that are not available, then others. */
  #shrinkOld(newest: ReplicaSet): boolean {
    const minAvailable = replicasOf(this.#deployment) - maxUnavailable(this.#deployment);
    const old = this.#old.filter((set) => replicasOf(set) > 0);
    const unavailable = replicasOf(newest) - availableOf(newest);
    const room = sum(this.#all, replicasOf) - minAvailable - unavailable;
    if (old.length === 0 || room <= 0) return false;
    const sizes = new Map(old.map((set) => [set, replicasOf(set)]));
    let unhealthy = 0;
    for (const set of old) {
      const taken = Math.min(room - unhealthy, Math.max(0, sizes.get(set)! - availableOf(set)));
      sizes.set(set, sizes.get(set)! - taken);
      unhealthy += taken;
    }
    let spare = Math.max(0, sum([...old, newest], availableOf) - minAvailable);
    for (const set of old) {
      const taken = Math.min(spare, sizes.get(set)!);
      sizes.set(set, sizes.get(set)! - taken);
      spare -= taken;
    }
    return [...sizes].map(([set, size]) => this.#resize(set, size)).includes(true);
  }

  #recreate(hasOldPods: boolean): DeploymentPlan {
    const active = this.#old.filter((set) => replicasOf(set) > 0);
    for (const set of active) this.#resize(set, 0);
    if (active.length > 0 || hasOldPods || sum(this.#old, ({ status }) => status?.replicas ?? 0) > 0) {
      return this.#rolloutStep();
    }
    const newest = this.#newest ?? this.#create();
    if (newest !== this.#created) this.#resize(newest, replicasOf(this.#deployment));
    return this.#rolloutStep();
  }

  /**
   * Returns whether the size changes. With `always`, also updates the annotations of a ReplicaSet that keeps its
   * size.
   */
  #resize(set: ReplicaSet, replicas: number, always = false): boolean {
    const isOther = replicasOf(set) !== replicas;
    if (!isOther && !always) return false;
    const desired = replicasOf(this.#deployment);
    const annotations = {
      ...set.metadata.annotations,
      ...scaleAnnotations(desired, desired + maxSurge(this.#deployment)),
    };
    const isStale = !isSameJson(annotations, set.metadata.annotations ?? {});
    if (isOther || isStale) this.#change(set, { annotations, replicas });
    return isOther;
  }

  #change(set: ReplicaSet, change: Omit<SetChange, "set">): void {
    const { uid } = set.metadata;
    this.#changes.set(uid, { set, ...this.#changes.get(uid), ...change });
  }

  /** Deletes old ReplicaSets beyond revisionHistoryLimit once they are empty, oldest revisions first. */
  #cleanUp(): void {
    const { revisionHistoryLimit } = this.#deployment.spec;
    if (revisionHistoryLimit === undefined || revisionHistoryLimit === NO_LIMIT) return;
    const alive = this.#old.filter(({ metadata }) => !metadata.deletionTimestamp);
    const surplus = alive.length - revisionHistoryLimit;
    const ordered = [...alive].sort(
      (left, right) => Number(revisionOf(left) - revisionOf(right)) || byCreation(left, right),
    );
    for (const set of ordered.slice(0, Math.max(0, surplus))) {
      const { generation = 0 } = set.metadata;
      const isSeen = generation <= (set.status?.observedGeneration ?? 0);
      if (replicasOf(set) === 0 && (set.status?.replicas ?? 0) === 0 && isSeen) this.#removed.push(set);
    }
  }
}

/** The ReplicaSet of a new template, with the initial size that the rollout permits. */
function newReplicaSet(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const { name, namespace } = deployment.metadata;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const desired = replicasOf(deployment);
  const annotations = {
    ...annotationsFor(deployment, {}, nextRevision(old)),
    ...scaleAnnotations(desired, desired + maxSurge(deployment)),
  };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name.slice(0, MAX_NAME - hash.length - 1)}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels,
      annotations,
      ownerReferences: [controllerReference({ apiVersion: "apps/v1", kind: "Deployment" }, deployment)],
    } as unknown as ReplicaSet["metadata"],
    spec: {
      replicas: newSetReplicas(deployment, old, 0),
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}
