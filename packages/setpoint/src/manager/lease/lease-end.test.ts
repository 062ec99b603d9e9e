import { describe, expect, it } from "vitest";
import { failure, World } from "../../controller/world.testing.js";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { LeaderProcess } from "./leader-process.testing.js";
import { ASKED, after, checked, create, PATHS, type Path, shop } from "./lease-paths.testing.js";

/** A leading process that has done everything before the tested request. */
async function leading(world: World, path: Path): Promise<LeaderProcess> {
  const webhooks = { service: { namespace: "team", name: "hooks" }, port: 0, clock: world.clock };
  const process = new LeaderProcess(world, { webhooks });
  for (const part of path.loops?.(process) ?? []) await process.manager.add(part);
  await process.manager.start();
  await path.given?.(world, process);
  await world.clock.advance(1_000);
  return process;
}

/** Causes the request and all its consequences, until the process ends. */
async function goOn(world: World, process: LeaderProcess, path: Path): Promise<void> {
  let isBegun = false;
  void path
    .when(world, process)
    .catch(() => {})
    .finally(() => {
      isBegun = true;
    });
  // Modules are loaded and ports opened in real time, for which virtual time does not wait.
  while (!isBegun) await world.clock.advance(1_000);
  await world.clock.advance(path.lastsMs ?? 60_000);
  await Promise.all([process.manager.stop(), world.clock.advance(120_000)]);
}

describe.each(Object.entries(PATHS))("once the lease has ended, %s", (_, path) => {
  it("is not started, even if nobody has noticed", async () => {
    await using world = await World.create();
    const process = await leading(world, path);
    const { refused } = path;
    let refusals = 0;
    process.way = (name) =>
      name === refused?.request && refusals++ === 0 ? failure(refused.status, refused.reason) : undefined;
    process.endsAfter = path.after;
    await goOn(world, process, path);
    expect(process.hasEnded).toBe(true);
    expect([process.late, await process.lateChanges()]).toEqual([[], []]);
  });

  it("is not retried, although the server asked for it", async () => {
    await using world = await World.create();
    const process = await leading(world, path);
    const { status, body } = failure(429, "TooManyRequests");
    process.way = (name) =>
      name === path.request && !process.hasEnded ? { status, body, headers: { "retry-after": "1" } } : undefined;
    process.endsAfter = path.request;
    await goOn(world, process, path);
    expect(process.hasEnded).toBe(true);
    expect([process.late, await process.lateChanges()]).toEqual([[], []]);
  });

  it("is aborted in flight", async () => {
    await using world = await World.create();
    const process = await leading(world, path);
    process.way = (name) => {
      if (name !== path.request) return undefined;
      process.cutOff();
      return "hang";
    };
    await goOn(world, process, path);
    expect(process.hanging).toEqual([path.request]);
    expect(process.ends).toMatchObject([{ code: "LEASE_LOST" }]);
    expect([process.late, await process.lateChanges()]).toEqual([[], []]);
  });
});

describe("an effect", () => {
  const path = (effect: (signal: AbortSignal) => unknown): Path => ({
    loops: after((ctx) => ctx.effect("dns", (signal) => effect(signal))),
    ...{ when: create, after: ASKED, request: "" },
  });

  it("is not started once the lease has expired, even if nobody has noticed", async () => {
    await using world = await World.create();
    const begun: string[] = [];
    const effect = path(() => begun.push("dns"));
    const process = await leading(world, effect);
    process.endsAfter = ASKED;
    await goOn(world, process, effect);
    expect([process.hasEnded, begun]).toEqual([true, []]);
  });

  it("is notified by its signal while it runs", async () => {
    await using world = await World.create();
    const ends: unknown[] = [];
    const effect = path((signal) => {
      process.cutOff();
      return new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => {
          ends.push(signal.reason);
          resolve();
        }),
      );
    });
    const process = await leading(world, effect);
    await goOn(world, process, effect);
    expect(ends).toMatchObject([{ code: "LEASE_LOST" }]);
  });
});

describe("the apps of a process", () => {
  const definition = (world: World) => world.client.find(CustomResourceDefinition, "orders.shop.example.com");

  it("are installed by a process on standby, too", async () => {
    await using world = await World.create();
    const leader = new LeaderProcess(world);
    await leader.manager.start();
    const standby = new LeaderProcess(world, { leaderElection: { identity: "two" } });
    const started = standby.manager.start().catch(() => {});
    await world.clock.advance(5_000);
    await standby.manager.add(shop);
    expect([standby.manager.isLeading, (await definition(world)) !== undefined]).toEqual([false, true]);
    const stopping = [standby, leader].map(({ manager }) => manager.stop());
    await Promise.all([...stopping, started, world.clock.advance(120_000)]);
  });

  it("have webhooks that only lead to this process deleted, even after its lease has expired", async () => {
    await using world = await World.create();
    const process = new LeaderProcess(world, { webhooks: { clock: world.clock } });
    await process.manager.start();
    await process.manager.add(checked);
    await process.end();
    await Promise.all([process.manager.stop(), world.clock.advance(120_000)]);
    expect(await process.lateChanges()).toEqual(["DELETE validatingwebhookconfigurations"]);
  });
});
