import { seededRandom } from "setpoint/clock";
import { CronJob, Job } from "setpoint/kinds/batch/v1";
import { Manager } from "setpoint/manager";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../../control-plane.js";
import { cronJobController } from "./cron-job-controller.js";

const namespace = "default";
const here = { namespace };

class World implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly #plane: ControlPlane;
  #manager: Manager;

  private constructor(plane: ControlPlane, clock: VirtualClock) {
    this.clock = clock;
    this.#plane = plane;
    this.#manager = this.#newManager();
  }

  static async with(spec: object): Promise<World> {
    const clock = new VirtualClock();
    const world = new World(await controlPlane({ clock, random: seededRandom(1) }), clock);
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work" }] } };
    const body = { metadata: { namespace, name: "a" }, spec: { jobTemplate: { spec: { template } }, ...spec } };
    await world.client.create(CronJob, body as never);
    await world.start();
    return world;
  }

  get client() {
    return this.#plane.client;
  }

  async start(): Promise<void> {
    this.#manager = this.#newManager();
    void this.#manager.start();
    await this.clock.advance(0);
  }

  async stop(): Promise<void> {
    const stopping = this.#manager.stop();
    await this.clock.advance(0);
    await stopping;
  }

  async jobs(): Promise<readonly string[]> {
    return (await this.client.list(Job, here)).items.map(({ metadata }) => metadata.name).sort();
  }

  async status() {
    return (await this.client.get(CronJob, "a", here)).status;
  }

  async end(name: string, type: string): Promise<void> {
    const now = new Date(this.clock.now()).toISOString().replace(/\.\d+/, "");
    const target = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    const conditions = [target, type].map((each) => ({ type: each, status: "True", reason: "Test", message: "" }));
    const status = { conditions, startTime: now, ...(type === "Complete" && { completionTime: now }) };
    await this.client.patch(Job, name, { type: "merge", body: { status } } as never, {
      ...here,
      subresource: "status",
    });
    await this.clock.advance(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#plane[Symbol.asyncDispose]();
  }

  #newManager(): Manager {
    const random = seededRandom(1);
    const manager = new Manager({ name: "cron", client: this.client, clock: this.clock, random, grace: 0 });
    manager.add(cronJobController({ clock: this.clock, random }));
    return manager;
  }
}

const nameAt = (time: string): string => `a-${Date.parse(time) / 60_000}`;

describe("a cron job", () => {
  it("creates a job each time, named after it, and keeps a history", async () => {
    await using world = await World.with({ schedule: "0 * * * *", successfulJobsHistoryLimit: 1 });
    expect(await world.jobs()).toEqual([]);
    await world.clock.advance(3_601_000);
    const first = nameAt("2026-01-01T01:00:00Z");
    expect(await world.jobs()).toEqual([first]);
    const made = await world.client.get(Job, first, here);
    expect(made.metadata.annotations).toEqual({
      "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T01:00:00Z",
    });
    expect(await world.status()).toMatchObject({
      active: [{ kind: "Job", name: first }],
      lastScheduleTime: "2026-01-01T01:00:00Z",
    });
    await world.end(first, "Complete");
    expect((await world.status())?.active).toBeUndefined();
    expect((await world.status())?.lastSuccessfulTime).toBe("2026-01-01T01:00:01Z");
    await world.clock.advance(3_600_000);
    const second = nameAt("2026-01-01T02:00:00Z");
    await world.end(second, "Complete");
    expect(await world.jobs()).toEqual([second]);
  });

  it.each([
    ["Allow", 2, 2],
    ["Forbid", 1, 1],
    ["Replace", 1, 1],
  ])("with the policy %s has %i jobs when the first still runs", async (concurrencyPolicy, jobs, active) => {
    await using world = await World.with({ schedule: "* * * * *", concurrencyPolicy });
    await world.clock.advance(121_000);
    expect(await world.jobs()).toHaveLength(jobs);
    expect((await world.status())?.active).toHaveLength(active);
  });

  it("catches up with only the last missed time, and with none past its deadline", async () => {
    await using world = await World.with({ schedule: "0 * * * *" });
    await world.stop();
    await world.clock.advance(5 * 3_600_000 + 60_000);
    await world.start();
    expect(await world.jobs()).toEqual([nameAt("2026-01-01T05:00:00Z")]);
    await using late = await World.with({ schedule: "0 * * * *", startingDeadlineSeconds: 30 });
    await late.stop();
    await late.clock.advance(5 * 3_600_000 + 60_000);
    await late.start();
    expect(await late.jobs()).toEqual([]);
  });

  it("creates nothing while it is suspended", async () => {
    await using world = await World.with({ schedule: "* * * * *", suspend: true });
    await world.clock.advance(600_000);
    expect(await world.jobs()).toEqual([]);
  });
});
