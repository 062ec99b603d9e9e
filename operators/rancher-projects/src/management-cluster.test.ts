import { Namespace } from "setpoint/kinds/v1";
import { TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { Project } from "./project.js";
import { projectCrd } from "./project-crd.js";
import { rancherProjects } from "./rancher-projects.js";

it("reads projects from the management cluster, writes namespaces on its own, and follows both", async () => {
  await using management = await TestEnvironment.create({ kinds: [projectCrd as never], namespaces: ["c-down"] });
  await using env = await TestEnvironment.create({
    loops: [rancherProjects({ clusterId: "c-down", managementCluster: "management" })],
    manager: { clusters: { management: management.client } },
  });
  const settle = async (): Promise<void> => {
    await management.idle();
    await env.advance("1s");
  };
  await env.client.create(Namespace, { metadata: { name: "shop", labels: { appOwner: "DevOps" } } });
  await settle();
  expect(env.operator.writes).toEqual([]);

  const spec = { displayName: "DevOps" };
  await management.client.create(Project, { metadata: { name: "p-1", namespace: "c-down" }, spec });
  await settle();
  const { labels, annotations } = (await env.client.get(Namespace, "shop")).metadata;
  expect(labels).toMatchObject({ "field.cattle.io/projectId": "p-1", "field.cattle.io/clusterId": "c-down" });
  expect(annotations?.["field.cattle.io/projectId"]).toBe("c-down:p-1");
  expect(await management.client.find(Namespace, "shop")).toBeUndefined();
});
