import type { Client } from "setpoint";
import { systemClock } from "setpoint/clock";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Namespace } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { expect } from "vitest";
import { Project } from "./project.js";
import { projectCrd } from "./project-crd.js";
import { rancherProjects } from "./rancher-projects.js";

const NAMESPACES = 2_000;
const PROJECTS = 200;

/** Settles 2,000 namespaces and 200 projects, and renames a project; counts the patches at the server. */
export async function expectExactPatches(admin: Client): Promise<void> {
  await admin.create(CustomResourceDefinition, projectCrd);
  await admin.create(Namespace, { metadata: { name: "local" } });
  await until(async () => (await admin.list(Project).catch(() => undefined)) !== undefined);
  await inParallel(PROJECTS, async (at) => {
    const metadata = { name: `p-${at}`, namespace: "local" };
    await admin.create(Project, { metadata, spec: { displayName: `Team ${at}` } });
  });
  await inParallel(NAMESPACES, async (at) => {
    await admin.create(Namespace, { metadata: { name: `n-${at}`, labels: { appOwner: `team-${at % PROJECTS}` } } });
  });
  const before = await namespacePatches(admin);
  await using manager = new Manager({ client: admin, grace: 1_000 });
  manager.add(rancherProjects({ normalise: true }));
  await manager.start();
  await until(async () => (await assigned(admin)) === NAMESPACES);
  // A server counts a request after it has answered it.
  await until(async () => (await namespacePatches(admin)) - before >= NAMESPACES);
  expect((await namespacePatches(admin)) - before).toBe(NAMESPACES);

  const runs = () => [...manager.timeline.runs()];
  let last: number;
  do {
    last = runs().at(-1)!.id;
    await systemClock.sleep(1_000);
  } while (runs().at(-1)!.id !== last);
  const renamed = { type: "merge", body: { spec: { displayName: "Renamed" } } } as const;
  await admin.patch(Project, "p-7", renamed, { namespace: "local" });
  const keysSince = () => new Set(runs().flatMap(({ id, key }) => (id > last ? [key] : [])));
  await until(async () => keysSince().size >= NAMESPACES / PROJECTS);
  await systemClock.sleep(1_000);
  const own = Array.from({ length: NAMESPACES / PROJECTS }, (_, at) => `n-${at * PROJECTS + 7}`);
  expect([...keysSince()].sort()).toEqual(own.sort());
  expect((await namespacePatches(admin)) - before).toBe(NAMESPACES);
}

/** The server's own count, whatever the response was. */
async function namespacePatches(admin: Client): Promise<number> {
  const { body } = await admin.raw({ method: "GET", path: "/metrics" });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  const lines = text.split("\n").filter((line) => line.startsWith("apiserver_request_total{"));
  const counted = lines.filter((line) => line.includes('resource="namespaces"') && /verb="(PATCH|APPLY)"/.test(line));
  return counted.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

async function assigned(admin: Client): Promise<number> {
  const { items } = await admin.list(Namespace, { labelSelector: "field.cattle.io/projectId" });
  return items.length;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await systemClock.sleep(100);
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
