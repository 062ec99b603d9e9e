import { Namespace } from "setpoint/kinds/v1";
import { TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { Project } from "./project.js";
import { projectCrd } from "./project-crd.js";
import { rancherProjects } from "./rancher-projects.js";

const NAMESPACES = 2_000;
const PROJECTS = 200;

it("settles 2,000 namespaces and 200 projects with 2,000 patches, and a renamed project runs its own namespaces alone", async () => {
  await using env = await TestEnvironment.create({ kinds: [projectCrd as never], namespaces: ["local"] });
  for (let at = 0; at < PROJECTS; at++) {
    await env.client.create(Project, {
      metadata: { name: `p-${at}`, namespace: "local" },
      spec: { displayName: `Team ${at}` },
    });
  }
  for (let at = 0; at < NAMESPACES; at++) {
    const labels = { appOwner: `team-${at % PROJECTS}` };
    await env.client.create(Namespace, { metadata: { name: `n-${at}`, labels } });
  }
  const operator = await env.start([rancherProjects({ normalise: true })]);
  await env.advance("10s");
  expect(operator.writes).toHaveLength(NAMESPACES);
  expect(new Set(operator.writes).size).toBe(NAMESPACES);

  const ranBefore = [...operator.manager.timeline.runs()].at(-1)!.id;
  await env.client.patch(
    Project,
    "p-7",
    { type: "merge", body: { spec: { displayName: "Renamed" } } },
    { namespace: "local" },
  );
  await env.advance("10s");
  const ran = [...operator.manager.timeline.runs()].filter(({ id }) => id > ranBefore);
  expect(new Set(ran.map(({ key }) => Number(key.slice(2)) % PROJECTS))).toEqual(new Set([7]));
  expect(new Set(ran.map(({ key }) => key)).size).toBe(NAMESPACES / PROJECTS);
  expect(operator.writes).toHaveLength(NAMESPACES);
}, 120_000);
