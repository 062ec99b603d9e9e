import { describe, expect, it } from "vitest";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { TestEnvironment, type TestEnvironmentOptions } from "./test-environment.js";

type Kinds = TestEnvironmentOptions["kinds"];

describe("a test environment", () => {
  it.each([[{}], [ConfigMap], [undefined], ["Website"]])(
    "refuses what is no kind to be installed: %o",
    async (kind) => {
      const created = TestEnvironment.create({ kinds: [kind] as unknown as Kinds });
      await expect(created).rejects.toMatchObject({
        code: "KIND_INVALID",
        message: expect.stringContaining("kinds[0]: neither a kind of resource(…) nor a CustomResourceDefinition"),
      });
    },
  );

  it("refuses options that there are not", async () => {
    await expect(TestEnvironment.create({ workload: [] } as never)).rejects.toMatchObject({
      code: "CONTROLLER_INVALID",
      message:
        "TestEnvironment: there is no option workload; there are workloads, kinds, namespaces, from, simulate, seed, manager",
    });
  });

  it("installs definitions as they are", async () => {
    const names = { kind: "Website", plural: "websites" };
    const schema = { openAPIV3Schema: { type: "object" } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const spec = { group: "example.com", scope: "Namespaced", names, versions };
    await using env = await TestEnvironment.create({ kinds: [{ metadata: { name: "websites.example.com" }, spec }] });
    const path = "/apis/example.com/v1/websites";
    expect((await env.client.raw({ method: "GET", path })).status).toBe(200);
  });
});
