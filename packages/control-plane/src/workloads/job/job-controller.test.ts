import { seededRandom } from "setpoint/clock";
import { formatTime } from "setpoint/kinds";
import { Job } from "setpoint/kinds/batch/v1";
import { Pod } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../../control-plane.js";
import { PodPace } from "../pod-pace.js";
import { jobController } from "./job-controller.js";
import { releasedPodController } from "./released-pods.js";

const namespace = "default";
const here = { namespace };
type JobSpec = Partial<NonNullable<Job["spec"]>>;

/** A plane with the job controllers only: pods end when the test says so. */
class World implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly #plane: ControlPlane;
  readonly #manager: Manager;

  private constructor(plane: ControlPlane, clock: VirtualClock) {
    this.clock = clock;
    this.#plane = plane;
    const random = seededRandom(1);
    this.#manager = new Manager({ name: "jobs", client: plane.client, clock, random, grace: 0 });
    this.#manager.add(jobController({ clock, random, podPace: new PodPace(clock) }));
    this.#manager.add(releasedPodController());
  }

  static async with(spec: JobSpec): Promise<World> {
    const clock = new VirtualClock();
    const world = new World(await controlPlane({ clock, random: seededRandom(1) }), clock);
    void world.#manager.start();
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work" }] } };
    await world.client.create(Job, { metadata: { namespace, name: "a" }, spec: { template, ...spec } } as never);
    await clock.advance(0);
    return world;
  }

  get client() {
    return this.#plane.client;
  }

  async status() {
    return (await this.client.get(Job, "a", here)).status;
  }

  async conditions() {
    return (await this.status())?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`) ?? [];
  }

  async pods(phase = "Pending"): Promise<readonly Pod[]> {
    return (await this.client.list(Pod, here)).items.filter(({ status }) => status?.phase === phase);
  }

  async change(spec: object): Promise<void> {
    await this.client.patch(Job, "a", { type: "merge", body: { spec } } as never, here);
    await this.clock.advance(0);
  }

  /** The status that a kubelet reports when the only container of a pod ends. */
  async end(pod: Pod | undefined, exitCode = 0): Promise<void> {
    const state = { terminated: { exitCode, finishedAt: formatTime(this.clock.now()) } };
    const main = { name: "main", ready: false, restartCount: 0, image: "work", imageID: "", state };
    const body = { status: { phase: exitCode === 0 ? "Succeeded" : "Failed", containerStatuses: [main] } };
    await this.client.patch(Pod, pod!.metadata.name, { type: "merge", body }, { ...here, subresource: "status" });
    await this.clock.advance(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.#manager.stop();
    await this.clock.advance(60_000);
    await stopping;
    await this.#plane[Symbol.asyncDispose]();
  }
}

describe("a job", () => {
  it("tracks its pod until it is counted, and is complete then", async () => {
    await using world = await World.with({});
    const [pod] = await world.pods();
    expect(pod?.metadata.finalizers).toEqual(["batch.kubernetes.io/job-tracking"]);
    expect(pod?.metadata.labels?.["batch.kubernetes.io/job-name"]).toBe("a");
    expect(await world.status()).toEqual({
      active: 1,
      ready: 0,
      startTime: formatTime(world.clock.now()),
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    await world.end(pod);
    expect(await world.status()).toMatchObject({ succeeded: 1, terminating: 0, uncountedTerminatedPods: {} });
    expect(await world.conditions()).toEqual([
      "SuccessCriteriaMet=True CompletionsReached",
      "Complete=True CompletionsReached",
    ]);
    expect((await world.pods("Succeeded"))[0]?.metadata.finalizers).toBeUndefined();
  });

  it("runs as many pods at once as allowed, and no more than still needed", async () => {
    await using world = await World.with({ completions: 3, parallelism: 2 });
    expect(await world.pods()).toHaveLength(2);
    await world.end((await world.pods())[0]);
    expect(await world.pods()).toHaveLength(2);
    await world.end((await world.pods())[0]);
    expect(await world.pods()).toHaveLength(1);
    await world.end((await world.pods())[0]);
    expect(await world.status()).toMatchObject({ succeeded: 3 });
    expect(await world.conditions()).toContain("Complete=True CompletionsReached");
  });

  it("waits longer after each failure, and fails beyond its limit", async () => {
    await using world = await World.with({ backoffLimit: 2 });
    const waits: number[] = [];
    for (let failure = 0; failure < 3; failure++) {
      const since = world.clock.now();
      while ((await world.pods()).length === 0) await world.clock.advance(1_000);
      waits.push(world.clock.now() - since);
      await world.end((await world.pods())[0], 1);
    }
    expect(waits).toEqual([0, 10_000, 20_000]);
    await world.clock.advance(600_000);
    expect(await world.status()).toMatchObject({ failed: 3 });
    expect(await world.conditions()).toEqual([
      "FailureTarget=True BackoffLimitExceeded",
      "Failed=True BackoffLimitExceeded",
    ]);
  });

  it("fails at its deadline, and counts running pods as failed", async () => {
    await using world = await World.with({ activeDeadlineSeconds: 30 });
    await world.clock.advance(29_000);
    expect(await world.conditions()).toEqual([]);
    await world.clock.advance(1_000);
    await world.clock.advance(0);
    expect(await world.status()).toMatchObject({ failed: 1 });
    expect(await world.conditions()).toEqual(["FailureTarget=True DeadlineExceeded", "Failed=True DeadlineExceeded"]);
    expect(await world.pods()).toEqual([]);
  });

  it("has no pods while it is suspended, and starts anew when it is resumed", async () => {
    await using world = await World.with({ suspend: true });
    expect(await world.pods()).toEqual([]);
    expect(await world.conditions()).toEqual(["Suspended=True JobSuspended"]);
    expect((await world.status())?.startTime).toBeUndefined();
    await world.clock.advance(60_000);
    await world.change({ suspend: false });
    expect(await world.pods()).toHaveLength(1);
    expect(await world.conditions()).toEqual(["Suspended=False JobResumed"]);
    expect((await world.status())?.startTime).toBe(formatTime(world.clock.now()));
    await world.change({ suspend: true });
    expect(await world.pods()).toEqual([]);
    expect(await world.status()).toMatchObject({ uncountedTerminatedPods: {} });
  });

  it("gives each index to one pod at a time, and reports completed ones", async () => {
    await using world = await World.with({ completions: 4, parallelism: 4, completionMode: "Indexed" });
    const index = (pod: Pod) => Number(pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]);
    const byIndex = async () => [...(await world.pods())].sort((left, right) => index(left) - index(right));
    const pods = await byIndex();
    expect(pods.map(({ spec }) => spec?.hostname)).toEqual(["a-0", "a-1", "a-2", "a-3"]);
    expect(pods[2]?.spec?.containers[0]?.env?.[0]?.name).toBe("JOB_COMPLETION_INDEX");
    for (const at of [0, 1, 3]) await world.end(pods[at]);
    expect(await world.status()).toMatchObject({ completedIndexes: "0,1,3", succeeded: 3, active: 1 });
    await world.end(pods[2], 1);
    await world.clock.advance(10_000);
    expect((await byIndex()).map(index)).toEqual([2]);
    await world.end((await world.pods())[0]);
    expect(await world.status()).toMatchObject({ completedIndexes: "0-3", succeeded: 4, failed: 1 });
    expect(await world.conditions()).toContain("Complete=True CompletionsReached");
  });

  it("fails indexes separately if each has a limit", async () => {
    const spec = { completions: 2, parallelism: 2, completionMode: "Indexed", backoffLimitPerIndex: 0 } as const;
    await using world = await World.with(spec);
    const [first, second] = await world.pods();
    await world.end(first, 1);
    await world.end(second);
    expect(await world.status()).toMatchObject({
      failed: 1,
      succeeded: 1,
      failedIndexes: expect.stringMatching(/^[01]$/),
    });
    expect(await world.conditions()).toContain("Failed=True FailedIndexes");
  });

  it("lets its policies decide about failures and success", async () => {
    const onExitCodes = { operator: "In", values: [42] } as const;
    const failing = { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes }] } } as unknown as JobSpec;
    await using world = await World.with(failing);
    await world.end((await world.pods())[0], 42);
    expect(await world.conditions()).toContain("Failed=True PodFailurePolicy");
    const rules = [{ succeededIndexes: "1" }];
    await using other = await World.with({
      completions: 3,
      parallelism: 3,
      completionMode: "Indexed",
      successPolicy: { rules },
    });
    const second = (await other.pods()).find(({ spec }) => spec?.hostname === "a-1");
    await other.end(second);
    expect(await other.conditions()).toEqual(["SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"]);
    expect(await other.pods()).toEqual([]);
  });

  it("is deleted with its pods after its ttlSecondsAfterFinished", async () => {
    await using world = await World.with({ ttlSecondsAfterFinished: 60 });
    await world.end((await world.pods())[0]);
    await world.clock.advance(59_000);
    expect(await world.client.find(Job, "a", here)).toBeDefined();
    await world.clock.advance(2_000);
    expect(await world.client.find(Job, "a", here)).toBeUndefined();
    expect(await world.pods("Succeeded")).toEqual([]);
  });

  it.each(["Background", "Orphan"] as const)("releases its pods when it is deleted: %s", async (propagation) => {
    await using world = await World.with({});
    expect(await world.pods()).toHaveLength(1);
    await world.client.delete(Job, "a", { ...here, propagation });
    await world.clock.advance(2_000);
    expect(await world.client.find(Job, "a", here)).toBeUndefined();
    const left = await world.pods();
    expect(left.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    expect(left).toHaveLength(propagation === "Orphan" ? 1 : 0);
  });
});
