import { describe, expect, it } from "vitest";
import type { Clock } from "../../clock/clock.js";
import { seededRandom } from "../../clock/random.js";
import { failure, World } from "../../controller/world.testing.js";
import { Lease } from "../../kinds/builtin/coordination.k8s.io/v1.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { LeaderElector, type LeaderElectorOptions } from "./leader-elector.js";

function elector(world: World, identity: string, times: Partial<LeaderElectorOptions> = {}): LeaderElector {
  const { client } = world.cluster();
  return new LeaderElector({
    client,
    clock: world.clock,
    random: seededRandom(1),
    namespace: "default",
    name: "app",
    identity,
    ...times,
  });
}

const spec = async (world: World): Promise<Lease["spec"]> =>
  (await world.client.get(Lease, "app", { namespace: "default" })).spec;

describe("leader elector", () => {
  it("creates the lease if there is none, and leads [case 58]", async () => {
    await using world = await World.create();
    await using one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    expect(one.isLeading).toBe(true);
    expect(() => one.fence.check()).not.toThrow();
    expect(await spec(world)).toMatchObject({ holderIdentity: "one", leaseDurationSeconds: 15, leaseTransitions: 0 });
  });

  it("waits while another holder renews the lease, and takes over when it has expired [case 58]", async () => {
    await using world = await World.create();
    const first = elector(world, "one");
    await first.acquire(new AbortController().signal);
    await using second = elector(world, "two");
    const took = second.acquire(new AbortController().signal);
    await world.clock.advance(60_000);
    expect([first.isLeading, second.isLeading]).toEqual([true, false]);
    // The first stops renewing silently, like a killed process.
    world.fault = (request) => (JSON.stringify(request.body ?? "").includes('"one"') ? new Error("gone") : undefined);
    await world.clock.advance(40_000);
    await took;
    expect([first.isLeading, second.isLeading]).toEqual([false, true]);
    expect(first.lost.aborted).toBe(true);
    expect(() => first.fence.check()).toThrow("no longer holds the lease");
    expect(await spec(world)).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
  });

  it("takes a released lease at once [case 58]", async () => {
    await using world = await World.create();
    const first = elector(world, "one");
    await first.acquire(new AbortController().signal);
    await first.release();
    expect((await spec(world))?.holderIdentity).toBe("");
    await using second = elector(world, "two");
    await second.acquire(new AbortController().signal);
    expect(await spec(world)).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
  });

  it("waits for the duration in the lease of a silent holder, not for its own [case 58]", async () => {
    await using world = await World.create();
    const first = elector(world, "one", { lease: 60_000, renew: 40_000 });
    await first.acquire(new AbortController().signal);
    world.fault = (request) => (JSON.stringify(request.body ?? "").includes('"one"') ? new Error("gone") : undefined);
    await using second = elector(world, "two");
    const took = second.acquire(new AbortController().signal);
    await world.clock.advance(59_000);
    expect(second.isLeading).toBe(false);
    await world.clock.advance(6_000);
    await took;
    expect(second.isLeading).toBe(true);
  });

  it("retries a release on the newest state after a conflict [case 58]", async () => {
    await using world = await World.create();
    const one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    let conflicts = 1;
    world.fault = ({ method }) => (method === "PUT" && conflicts-- > 0 ? failure(409, "Conflict") : undefined);
    const sent = world.requests.length;
    await one.release();
    expect(world.requests.slice(sent).map(({ method }) => method)).toEqual(["GET", "PUT", "GET", "PUT"]);
    expect(await spec(world)).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
  });

  it("renews with one update, and keeps the acquire time [case 58]", async () => {
    await using world = await World.create();
    await using one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    const before = await spec(world);
    const sent = world.requests.length;
    await world.clock.advance(2_100);
    const renewals = world.requests.slice(sent);
    expect(renewals.map((request) => request.method)).toEqual(["PUT"]);
    const after = await spec(world);
    expect(after?.acquireTime).toBe(before?.acquireTime);
    expect(after?.renewTime).not.toBe(before?.renewTime);
  });

  it("leads no longer than the renew deadline if it cannot renew; others wait for the whole lease", async () => {
    await using world = await World.create();
    const one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    world.fault = () => new Error("unreachable");
    await world.clock.advance(9_900);
    expect([one.isLeading, one.lost.aborted]).toEqual([true, false]);
    await world.clock.advance(200);
    expect(() => one.fence.check()).toThrow("no longer holds the lease");
    expect([one.isLeading, one.lost.aborted]).toEqual([false, true]);
    expect((await spec(world))?.leaseDurationSeconds).toBe(15);
  });

  it("lets no write pass after the lease has expired by its own clock, even if nothing told it", async () => {
    await using world = await World.create();
    let stoodStillMs = 0;
    // As after SIGSTOP: time has passed, and no timer has fired yet.
    const clock: Clock = {
      now: () => world.clock.now() + stoodStillMs,
      monotonic: () => world.clock.monotonic() + stoodStillMs,
      timer: (delayMs, callback) => world.clock.timer(delayMs, callback),
      sleep: (delayMs, signal) => world.clock.sleep(delayMs, signal),
    };
    const one = elector(world, "one", { clock });
    await one.acquire(new AbortController().signal);
    stoodStillMs = 10_100;
    expect(one.lost.aborted).toBe(false);
    expect(() => one.fence.check()).toThrow("no longer holds the lease");
    expect(one.lost.aborted).toBe(true);
  });

  it("keeps leading after an unanswered renewal, because there is time for another", async () => {
    await using world = await World.create();
    await using one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    let unanswered = 1;
    world.hangs = ({ method }) => method === "PUT" && unanswered-- > 0;
    await world.clock.advance(30_000);
    expect([unanswered < 0, one.isLeading]).toEqual([true, true]);
  });

  it("logs that others keep it from releasing the lease", async () => {
    await using world = await World.create();
    const warnings: string[] = [];
    const log: Logger = { ...silentLogger, warn: (message) => void warnings.push(message), with: () => log };
    const one = elector(world, "one", { log });
    await one.acquire(new AbortController().signal);
    world.fault = ({ method }) => (method === "PUT" ? failure(409, "Conflict") : undefined);
    await one.release();
    expect(warnings).toEqual([expect.stringContaining("could not release the lease")]);
  });

  it("creates a lease anew that was deleted, and keeps leading", async () => {
    await using world = await World.create();
    await using one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    await world.client.delete(Lease, "app", { namespace: "default" });
    await world.clock.advance(60_000);
    expect(one.isLeading).toBe(true);
    expect(await spec(world)).toMatchObject({ holderIdentity: "one" });
  });

  it("gives up a lease that was deleted and created anew by another", async () => {
    await using world = await World.create();
    await using one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    await world.client.delete(Lease, "app", { namespace: "default" });
    await using two = elector(world, "two");
    await two.acquire(new AbortController().signal);
    await world.clock.advance(5_000);
    expect([one.isLeading, two.isLeading]).toEqual([false, true]);
    expect(one.lost.aborted).toBe(true);
  });

  it("waits for a release no longer than the lease lasts", async () => {
    await using world = await World.create();
    const one = elector(world, "one");
    await one.acquire(new AbortController().signal);
    world.hangs = () => true;
    let isReleased = false;
    void one.release().then(() => {
      isReleased = true;
    });
    await world.clock.advance(15_000);
    expect(isReleased).toBe(true);
  });

  it("keeps trying if the server is unreachable at first", async () => {
    await using world = await World.create();
    world.fault = () => new Error("unreachable");
    await using one = elector(world, "one");
    const took = one.acquire(new AbortController().signal);
    await world.clock.advance(10_000);
    world.fault = undefined;
    await world.clock.advance(10_000);
    await took;
    expect(one.isLeading).toBe(true);
  });

  it("refuses inconsistent durations", async () => {
    await using world = await World.create();
    const options = {
      client: world.client,
      clock: world.clock,
      random: seededRandom(1),
      namespace: "default",
      name: "app",
      identity: "x",
    };
    expect(() => new LeaderElector({ ...options, lease: 10_000, renew: 10_000 })).toThrow("clearly below");
  });
});
