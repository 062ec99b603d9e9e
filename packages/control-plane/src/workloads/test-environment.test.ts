import { Deployment } from "setpoint/kinds/apps/v1";
import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { labelled } from "./simulation.testing.js";

describe("a test environment", () => {
  it("runs the pods of a Deployment if it simulates", async () => {
    for (const simulate of [false, true]) {
      await using env = await TestEnvironment.create({ simulate });
      const metadata = { name: "web", namespace: "default" };
      await env.client.create(Deployment, { metadata, spec: { replicas: 2, ...labelled("web") } });
      await env.advance("5s");
      const { status } = await env.client.get(Deployment, "web", { namespace: "default" });
      expect(status?.availableReplicas).toBe(simulate ? 2 : undefined);
    }
  });
});
