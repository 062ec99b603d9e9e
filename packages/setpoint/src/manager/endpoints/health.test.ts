import { describe, expect, it } from "vitest";
import { controller } from "../../controller/controller.js";
import { Website, World } from "../../controller/world.testing.js";
import { Secret } from "../../kinds/builtin/v1.js";
import { type LogFields, type Logger, silentLogger } from "../../loop/logger.js";
import { Manager, type ManagerOptions } from "../manager.js";

const here = { host: "127.0.0.1", port: 0 };
const password = "correct-horse-battery";

/** A manager whose controller has read a Secret, and quotes it wherever it can. */
async function managerIn(world: World, options: Partial<ManagerOptions> = {}): Promise<Manager> {
  const metadata = { namespace: "team", name: "login" };
  await world.client.create(Secret, { metadata, stringData: { password } });
  const { client } = world.cluster();
  const manager = new Manager({ client, clock: world.clock, health: here, profiling: true, ...options });
  const reads = controller(Website, {
    uses: [Secret],
    reconcile: async (_site, ctx) => void (await ctx.get(Secret, "login")),
  });
  await manager.add(reads);
  await manager.start();
  await world.createWebsite("shop");
  await world.clock.advance(1_000);
  return manager;
}

async function shown(manager: Manager, path: string): Promise<string> {
  return (await fetch(`${manager.healthUrl}${path}`)).text();
}

describe("health", () => {
  it("reveals nothing about objects, healthy or not, and serves nothing else", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world);
    const data = /shop|team|login|correct-horse|nginx/;
    const paths = ["/livez", "/healthz", "/readyz", "/readyz?verbose"];
    for (const path of paths) expect(await shown(manager, path)).not.toMatch(data);
    expect(await shown(manager, "/readyz")).toBe("[+]controllers ok\nok\n");
    // Its watches end, and cannot be restarted.
    world.fault = ({ path }) => (path.includes("websites") ? new Error("cut off") : undefined);
    await world.clock.advance(900_000);
    expect(await shown(manager, "/readyz")).toContain("cut off");
    for (const path of paths) expect(await shown(manager, path)).not.toMatch(data);
    for (const path of ["/metrics", "/timeline", "/rbac", "/debug/profile", "/debug/heap", "/"])
      expect((await fetch(`${manager.healthUrl}${path}`)).status).toBe(404);
  });

  it("shows each informer's phase, resourceVersion and last error on request", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world);
    const informers = (text: string) => text.split("\n").filter((line) => line.startsWith("[i]"));
    const well = informers(await shown(manager, "/readyz?verbose"));
    expect(well).toHaveLength(2);
    expect(well[0]).toMatch(/^\[i\]informer web.example.com\/v1\/Website: watching, synced, resourceVersion \d+$/);
    expect(well[1]).toMatch(/^\[i\]informer v1\/Secret: watching, synced, resourceVersion \d+$/);
    world.fault = ({ path }) => (path.includes("websites") ? new Error("cut off") : undefined);
    await world.clock.advance(900_000);
    const [ill] = informers(await shown(manager, "/readyz?verbose"));
    expect(ill).toMatch(/Website: .*, synced, resourceVersion \d+; last error at \d{4}-.*Z: .*cut off/);
  });

  it("shows the message of a check, with Secrets masked; its errors are logged", async () => {
    await using world = await World.create();
    const lines: [string, LogFields][] = [];
    const log: Logger = {
      ...silentLogger,
      warn: (message, fields = {}) => void lines.push([message, fields]),
      with: () => log,
    };
    const checks = [
      { name: "says", check: () => `cannot log in with ${password}` },
      {
        name: "throws",
        check: () => Promise.reject(new Error(`connect ECONNREFUSED postgres://app:${password}@db`)),
      },
    ];
    await using manager = await managerIn(world, { checks, log });
    expect(await shown(manager, "/readyz")).toBe(
      "[+]controllers ok\n[-]says failed: cannot log in with ***\n[-]throws failed: it threw an error, which is in the log\nnot ready\n",
    );
    const [message] = lines.find(([, { check }]) => check === "throws")!;
    expect(message).toBe("the check throws failed: connect ECONNREFUSED postgres://app:***@db");
  });

  it("waits five seconds for a check, and does not call it again before it has answered", async () => {
    await using world = await World.create();
    let asked = 0;
    let answer = (_: undefined): void => {};
    const check = () => {
      asked++;
      return new Promise<undefined>((resolve) => {
        answer = resolve;
      });
    };
    await using manager = await managerIn(world, { checks: [{ name: "slow", check }] });
    const asking = [shown(manager, "/readyz"), shown(manager, "/readyz")];
    while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
    let isAnswered = false;
    const answers = Promise.all(asking).finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) await world.clock.advance(1_000);
    expect(new Set(await answers)).toEqual(
      new Set(["[+]controllers ok\n[-]slow failed: no answer within 5 s\nnot ready\n"]),
    );
    expect(asked).toBe(1);
    answer(undefined);
    await world.clock.settle();
    const again = shown(manager, "/readyz");
    while (asked === 1) await new Promise((resolve) => setImmediate(resolve));
    answer(undefined);
    expect(await again).toBe("[+]controllers ok\n[+]slow ok\nok\n");
  });
});

describe("trouble", () => {
  it("that kept a controller from starting is reported with Secrets masked", async () => {
    await using world = await World.create();
    await using manager = await managerIn(world);
    const start = (): void => {
      throw new Error(`no channel for ${password}`);
    };
    await manager.add(controller(Secret, { triggers: [{ name: "feed", start }], reconcile: () => {} }));
    await world.clock.advance(1_000);
    expect(manager.trouble()).toEqual(["controller secrets could not start: no channel for ***"]);
  });
});
