// Compares workloads transition by transition. A case is a script: each step changes one thing (one pod becomes ready, the
// template, the scale), states which pods must exist when the controllers are at rest, and records their status then.
// Compared are
//
// - at each rest: the whole status, conditions by type, the revision, and the status of the objects between the object and
//   its pods (ReplicaSets, ControllerRevisions);
// - over the whole case: every value of conditions, generations and revisions that a watch saw, and the minimum of
//   available replicas (`Walk`); if pods have an order, the order in which they were created and deleted.
//
// The number of writes between two rests is not compared: the real controllers see two new pods in one reconcile or in
// two, at random, and add up counts that ReplicaSets reported at different times.
import { systemClock } from "setpoint/clock";
import type { LineStream } from "../../line-stream.js";
import type { Body, Session } from "../../session.js";
import { apps, create, labelled } from "./settled-workloads.js";

/** The number of live pods of each image, and of ready ones among them: `{ one: [3, 3], two: [1, 0] }`. */
export type PodCounts = Readonly<Record<string, readonly [living: number, ready: number]>>;

/** A snapshot: the object, its pods, and the objects between the two. */
export interface WorkloadView {
  readonly object: Body;
  readonly between: readonly Body[];
  readonly pods: readonly Body[];
}

/** The differences between kinds of workloads. */
export interface WorkloadKind {
  readonly plural: string;
  /** The plural of the objects between it and its pods. */
  readonly between?: string;
  /** Whether its controllers are done with these pods. */
  readonly isAtRest: (view: WorkloadView) => boolean;
  readonly shown: (view: WorkloadView, s: Session) => unknown;
  /** Values that change one by one, even if several are seen at once, by name. */
  readonly walked: (object: Body) => Readonly<Record<string, unknown>>;
  /** Whether it is random that the real controller shows this value after the other. */
  readonly isChance?: (before: unknown, value: unknown) => boolean;
}

/** Long enough to notice a controller that goes too far. */
const REST_MS = 200;
const LONG_AGO_MS = 2 * 3_600_000;

export const imageOf = (pod: Body): string => pod.spec.containers[0].image;
export const conditionOf = (object: Body, type: string): Body =>
  object.status?.conditions?.find((each: Body) => each.type === type) ?? {};
export const isReady = (pod: Body): boolean => conditionOf(pod, "Ready").status === "True";
export const isObserved = ({ metadata, status }: Body): boolean => status?.observedGeneration === metadata.generation;
/** Whether a count of a status, which is omitted if zero, has this value. */
export const counts = (count: number | undefined, expected: number): boolean => (count ?? 0) === expected;
export const isAvailable = (pod: Body, minReadySeconds = 0): boolean =>
  isReady(pod) &&
  Date.parse(conditionOf(pod, "Ready").lastTransitionTime) + minReadySeconds * 1000 <= systemClock.now();

const podsOf = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;

/** One workload, its script, and its observed states. */
export class ScriptedWorkload implements AsyncDisposable {
  readonly #s: Session;
  readonly #kind: WorkloadKind;
  readonly #stream: LineStream;
  readonly #podStream: LineStream | undefined;
  #last: Body;

  private constructor(s: Session, kind: WorkloadKind, stream: LineStream, podStream: LineStream | undefined) {
    this.#s = s;
    this.#kind = kind;
    this.#stream = stream;
    this.#podStream = podStream;
  }

  /** Creates it, watched from the start; also its pods if they have an order. */
  static async begin(s: Session, kind: WorkloadKind, spec: object, isOrdered = false): Promise<ScriptedWorkload> {
    const stream = await s.open(`${apps(s, kind.plural)}?watch=true`);
    const podStream = isOrdered ? await s.open(`${podsOf(s)}?watch=true`) : undefined;
    const workload = new ScriptedWorkload(s, kind, stream, podStream);
    await create(s, kind.plural, spec);
    return workload;
  }

  async change(body: object): Promise<void> {
    await this.#s.patch("merge", this.#path, body, { silent: true });
  }

  spec(spec: object): Promise<void> {
    return this.change({ spec });
  }

  /** The real controller does not reconcile for every change around it; for a change of the object it does. */
  lookAgain(why: string): Promise<void> {
    return this.change({ metadata: { annotations: { "look-again": why } } });
  }

  /** Changes the image of its template. */
  image(image: string): Promise<void> {
    return this.spec({ template: labelled(image).template });
  }

  /** Makes pods of an image ready, one by default. */
  async ready(image: string, count = 1): Promise<void> {
    const waiting = (await this.#pods()).filter((pod) => imageOf(pod) === image && !isReady(pod));
    for (const { metadata } of waiting.slice(0, count)) await this.readyPod(metadata.name);
  }

  /** Makes a pod ready, ready since long ago, or no longer ready. */
  async readyPod(name: string, how: "now" | "long ago" | "no longer" = "now"): Promise<void> {
    const sinceMs = systemClock.now() - (how === "long ago" ? LONG_AGO_MS : 0);
    const lastTransitionTime = new Date(sinceMs).toISOString().replace(/\.\d+/, "");
    const status = how === "no longer" ? "False" : "True";
    const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status, lastTransitionTime }));
    await this.podStatus(name, { phase: "Running", conditions });
  }

  async podStatus(name: string, status: object): Promise<void> {
    await this.#s.patch("merge", `${podsOf(this.#s)}/${name}/status`, { status }, { silent: true });
  }

  async podLabels(name: string, labels: object): Promise<void> {
    await this.#s.patch("merge", `${podsOf(this.#s)}/${name}`, { metadata: { labels } }, { silent: true });
  }

  async deletePod(name: string): Promise<void> {
    await this.#s.delete(`${podsOf(this.#s)}/${name}`, { gracePeriodSeconds: 0 }, { silent: true });
  }

  /** The names of the pods of an image, ready ones first. */
  async podNames(image: string): Promise<readonly string[]> {
    const pods = (await this.#pods()).filter((pod) => imageOf(pod) === image);
    return [...pods.filter(isReady), ...pods.filter((pod) => !isReady(pod))].map(({ metadata }) => metadata.name);
  }

  /** Waits for these pods, whatever the controllers report. */
  async has(pods: PodCounts): Promise<void> {
    await this.#until((view) => areCounted(view.pods, pods));
  }

  /** Waits until the controllers are at rest with these pods, and records their status. */
  async rests(what: string, pods: PodCounts, isDone: (view: WorkloadView) => boolean = () => true): Promise<void> {
    const isThere = (view: WorkloadView): boolean =>
      areCounted(view.pods, pods) && this.#kind.isAtRest(view) && isDone(view);
    await this.#until(isThere);
    await systemClock.sleep(REST_MS);
    const view = await this.#view();
    this.#last = view.object;
    this.#s.note(what, {
      ...(!isThere(view) && { moved: countsOf(view.pods) }),
      seen: this.#kind.shown(view, this.#s),
    });
  }

  /** Records the intermediate values. */
  async [Symbol.asyncDispose](): Promise<void> {
    const walk = new Walk(this.#kind);
    while (this.#last) {
      const line = await this.#stream.next(this.#s.patienceMs);
      if (line === undefined) break;
      const { object } = JSON.parse(line) as Body;
      walk.see(object);
      if (object.metadata.resourceVersion === this.#last.metadata.resourceVersion) break;
    }
    this.#stream[Symbol.dispose]();
    this.#s.note("walk", walk.shown());
    if (this.#podStream) this.#s.note("pods that came and went", await this.#podSteps(this.#podStream));
  }

  /** The pods that were created and deleted so far, in this order; ends the stream. */
  async #podSteps(stream: LineStream): Promise<readonly string[]> {
    using _ = stream;
    const last = { metadata: { name: "last" }, spec: { containers: [{ name: "last", image: "last" }] } };
    await this.#s.post(podsOf(this.#s), last, { silent: true });
    const steps: string[] = [];
    for (;;) {
      const line = await stream.next(this.#s.patienceMs);
      if (line === undefined) return [...steps, "and no end of it was seen"];
      const { type, object } = JSON.parse(line) as Body;
      if (object.metadata.name === last.metadata.name) return steps;
      if (type === "ADDED" || type === "DELETED") steps.push(`${type} ${object.metadata.name} ${imageOf(object)}`);
    }
  }

  get #path(): string {
    return `${apps(this.#s, this.#kind.plural)}/a`;
  }

  /** The live pods. */
  async #pods(): Promise<readonly Body[]> {
    const { body } = await this.#s.get(podsOf(this.#s), { silent: true });
    return body.items.filter(({ metadata, status }: Body) => !metadata.deletionTimestamp && status.phase !== "Failed");
  }

  async #until(isThere: (view: WorkloadView) => boolean): Promise<void> {
    const deadline = systemClock.monotonic() + this.#s.patienceMs;
    while (!isThere(await this.#view()) && systemClock.monotonic() < deadline) await systemClock.sleep(50);
  }

  async #view(): Promise<WorkloadView> {
    const { between } = this.#kind;
    const { body: object } = await this.#s.get(this.#path, { silent: true });
    const items = between ? (await this.#s.get(apps(this.#s, between), { silent: true })).body.items : [];
    return { object, between: items, pods: await this.#pods() };
  }
}

/** The values of a watched object, without repetitions in a row. */
class Walk {
  readonly #kind: WorkloadKind;
  readonly #values = new Map<string, unknown[]>();
  /** The minimum of available replicas since all were available for the first time. */
  #fewest: number | undefined;

  constructor(kind: WorkloadKind) {
    this.#kind = kind;
  }

  see(object: Body): void {
    const { walked, isChance = () => false } = this.#kind;
    for (const [name, value] of Object.entries(walked(object))) {
      const values = this.#values.get(name) ?? [];
      const before = values.at(-1);
      if (before !== value && !isChance(before, value)) this.#values.set(name, [...values, value]);
    }
    const { availableReplicas = 0 } = object.status ?? {};
    if (this.#fewest !== undefined) this.#fewest = Math.min(this.#fewest, availableReplicas);
    else if (availableReplicas > 0 && availableReplicas === object.spec.replicas) this.#fewest = availableReplicas;
  }

  shown(): unknown {
    return { ...Object.fromEntries(this.#values), fewestAvailable: this.#fewest };
  }
}

function countsOf(pods: readonly Body[]): PodCounts {
  const images = [...new Set(pods.map(imageOf))].sort();
  return Object.fromEntries(
    images.map((image) => {
      const those = pods.filter((pod) => imageOf(pod) === image);
      return [image, [those.length, those.filter(isReady).length] as const];
    }),
  );
}

function areCounted(pods: readonly Body[], expected: PodCounts): boolean {
  const sorted = Object.fromEntries(Object.entries(expected).sort(([left], [right]) => (left < right ? -1 : 1)));
  return JSON.stringify(countsOf(pods)) === JSON.stringify(sorted);
}

/** A status with its conditions by type: their order depends on who wrote first. */
export function sortedStatus({ status = {} }: Body): Body {
  const conditions = status.conditions && [...status.conditions].sort((a: Body, b: Body) => (a.type < b.type ? -1 : 1));
  return { ...status, ...(conditions && { conditions }) };
}
