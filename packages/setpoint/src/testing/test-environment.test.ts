import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { TestEnvironment, type TestEnvironmentOptions } from "./test-environment.js";

type Kinds = TestEnvironmentOptions["kinds"];

describe("a test environment", () => {
  it.each([[{}], [ConfigMap], [undefined], ["Website"]])(
    "refuses to install a value that is no kind: %o",
    async (kind) => {
      const created = TestEnvironment.create({ kinds: [kind] as unknown as Kinds });
      await expect(created).rejects.toMatchObject({
        code: "KIND_INVALID",
        message: expect.stringContaining("kinds[0]: neither a kind of resource(…) nor a CustomResourceDefinition"),
      });
    },
  );

  it("refuses unknown options", async () => {
    await expect(TestEnvironment.create({ loop: [] } as never)).rejects.toMatchObject({
      code: "CONTROLLER_INVALID",
      message:
        "TestEnvironment: there is no option loop; there are loops, kinds, namespaces, from, simulate, seed, manager",
    });
  });

  it("installs definitions unchanged", async () => {
    const names = { kind: "Website", plural: "websites" };
    const schema = { openAPIV3Schema: { type: "object" } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const spec = { group: "example.com", scope: "Namespaced", names, versions };
    await using env = await TestEnvironment.create({ kinds: [{ metadata: { name: "websites.example.com" }, spec }] });
    const path = "/apis/example.com/v1/websites";
    expect((await env.client.raw({ method: "GET", path })).status).toBe(200);
  });

  it("ends although a reconcile hangs, however long the grace period", async () => {
    const deaf = controller(ConfigMap, { namespaces: ["default"], reconcile: () => new Promise<void>(() => {}) });
    const env = await TestEnvironment.create({ loops: [deaf], manager: { grace: 600_000 } });
    await env.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } });
    await env.idle();
    await env[Symbol.asyncDispose]();
    expect(env.operator.manager.stuck).toContain("controller configmaps default/a");
  });

  it("orders random delays by its seed", async () => {
    const play = async (seed: number): Promise<readonly string[]> => {
      const order: string[] = [];
      const flaky = controller(ConfigMap, {
        namespaces: ["default"],
        reconcile({ metadata: { name } }, ctx) {
          if (ctx.attempt === 0) throw new Error("once more");
          order.push(name);
        },
      });
      await using env = await TestEnvironment.create({ seed, loops: [flaky] });
      for (let at = 0; at < 8; at++)
        await env.client.create(ConfigMap, { metadata: { namespace: "default", name: `map-${at}` } });
      await env.advance("10m");
      return order;
    };
    const [first, again, other] = [await play(1), await play(1), await play(2)];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(other.toSorted()).toEqual(first.toSorted());
  });
});
