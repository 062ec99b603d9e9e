import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlane } from "@setpoint/control-plane";
import type { CommandContext } from "setpoint/command";
import { installCrd } from "setpoint/kinds";
import { StatefulSet } from "setpoint/kinds/apps/v1";
import { Manager } from "setpoint/manager";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Druid } from "./druid.js";
import { druidControllers } from "./druid-operator.js";
import { druidOperator } from "./operator.js";
import { runPlan, runRender } from "./run-command.js";
import { sampleDruid } from "./sample.testing.js";

const here = { namespace: "default" };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "druid-commands-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, object: object): string {
  const path = join(folder, name);
  writeFileSync(path, typeof object === "string" ? object : JSON.stringify(object), { mode: 0o600 });
  return path;
}

async function ran(
  command: (context: CommandContext) => Promise<number>,
  values: object,
  warnings: string[] = [],
): Promise<string> {
  const lines: string[] = [];
  const given = { "rollout-order": "seed", ...values };
  const [stdout, stderr] = [lines, warnings].map((all) => (line: string) => void all.push(line));
  const context = { values: given, env: {}, stdout, stderr };
  expect(await command(context as unknown as CommandContext)).toBe(0);
  return lines.join("\n");
}

const claims = (storage: string) => [
  {
    metadata: { name: "data" },
    spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage } } },
  },
];
const old = sampleDruid({
  brokers: { nodeType: "broker", replicas: 2, nodeSelector: { disk: "ssd", zone: "a" } },
  historicals: { nodeType: "historical", volumeClaimTemplates: claims("10Gi") },
  indexers: { nodeType: "indexer" },
  overlords: { nodeType: "overlord" },
  routers: { nodeType: "router" },
});
const { overlords: _overlords, ...kept } = sampleDruid({
  brokers: { nodeType: "broker", replicas: 2, nodeSelector: { disk: "ssd" } },
  coordinators: { nodeType: "coordinator" },
  historicals: { nodeType: "historical", volumeClaimTemplates: claims("20Gi") },
  indexers: { nodeType: "indexer", "runtime.properties": "druid.service=druid/indexer\na=b" },
  overlords: { nodeType: "overlord" },
  routers: { nodeType: "router", replicas: 3 },
}).spec.nodes;
const next = { ...old, spec: { ...old.spec, nodes: kept } } as Druid;

const EXPECTED = `Druid default/tiny (order: seed)
      historicals   refuse    spec.volumeClaimTemplates[0].spec.resources.requests.storage
  1.  indexers      roll      configuration: runtime.properties
  2.  brokers       roll      spec.template.spec.nodeSelector.zone
      coordinators  create
      routers       scale     spec.replicas
      overlords     delete    it left the spec
  created: ConfigMap druid-tiny-coordinators-config, Service druid-tiny-coordinators, StatefulSet druid-tiny-coordinators
  deleted: `;

describe("setpoint druid plan", { timeout: 120_000 }, () => {
  it("says offline which groups a change would roll, in which order, and why", async () => {
    const plan = await ran(runPlan, { file: file("new", next), from: file("old", old) });
    expect(plan).toContain(EXPECTED);
  });

  it("tells apparent from real immutable changes, and shows what a recreated workload brings", async () => {
    const annotations = { "druid.setpoint.dev/immutable-changes": "recreate" };
    const brokers = { nodeType: "broker", podLabels: { team: "a" } } as const;
    const labelled = (podLabels: Record<string, string>, image: string) =>
      sampleDruid({ brokers: { ...brokers, podLabels } }, { image }, { annotations });
    const plan = async (given: Druid) => {
      const text = await ran(runPlan, {
        file: file("new", given),
        from: file("old", labelled({ team: "a" }, "druid:1.0")),
      });
      return text.split("\n")[1];
    };
    expect(await plan(labelled({ team: "a", more: "b" }, "druid:1.0"))).toMatch(/^ {2}1\. {2}brokers {2}roll /);
    const image = "spec.template.spec.containers[0].image";
    expect(await plan(labelled({ team: "b" }, "druid:1.1"))).toMatch(
      new RegExp(
        `1\\. {2}brokers {2}recreate {2}spec\\.selector\\.matchLabels\\.team, .*${image.replace(/[.[\]]/g, "\\$&")}`,
      ),
    );
  });

  it("does so against a cluster, by its state, and matches run druid --plan", async () => {
    await using plane = await controlPlane({ listen: {} });
    const { client } = plane;
    await installCrd(client, Druid.crd());
    await client.create(Druid, old);
    const manager = new Manager({ client, grace: "1s" });
    for (const loop of druidControllers({ isWithoutIngestion: true })) manager.add(loop);
    await manager.start();
    await expect.poll(() => client.find(StatefulSet, "druid-tiny-routers", here)).toBeDefined();
    await expect.poll(async () => (await client.get(Druid, "tiny", here)).status?.observedGeneration).toBe(1);
    await manager.stop();
    const kubeconfig = file("kubeconfig", plane.kubeconfig as unknown as object);
    const plan = (given: Druid) => ran(runPlan, { file: file("new", given), kubeconfig });
    expect(await plan(old)).toBe(
      [
        "Druid default/tiny (order: seed)",
        ...["historicals", "indexers", "brokers", "overlords", "routers"].map((key) => `      ${key.padEnd(11)}  none`),
      ].join("\n"),
    );
    const offline = await ran(runPlan, { file: file("new", next), from: file("old", old) });
    const online = await plan(next);
    expect(online).toContain(EXPECTED);
    expect(online.split("\n").slice(0, 7)).toEqual(offline.split("\n").slice(0, 7));
    const brokers = { ...next.spec.nodes.brokers, nodeSelector: { disk: "ssd", zone: null } };
    const nodes = { ...next.spec.nodes, brokers, overlords: null };
    await client.patch(Druid, "tiny", { type: "merge", body: { spec: { nodes } } as never }, here);
    expect((await druidOperator.plan!(client, {}, {})).join("\n")).toBe(online);
  });
});

describe("setpoint druid render", () => {
  it("prints the children as YAML or JSON, with defaults, and refuses what is invalid with the field's path", async () => {
    const path = file("old", old);
    const { items } = JSON.parse(await ran(runRender, { file: path, output: "json" }));
    expect(items.map(({ kind, metadata }: StatefulSet) => `${kind} ${metadata.name}`).slice(0, 4)).toEqual([
      "ConfigMap tiny-druid-common-config",
      "ConfigMap druid-tiny-brokers-config",
      "Service druid-tiny-brokers",
      "StatefulSet druid-tiny-brokers",
    ]);
    expect((await ran(runRender, { file: path })).split("---\n")).toHaveLength(items.length);
    const invalid = { ...old, spec: { ...old.spec, image: undefined } };
    await expect(ran(runRender, { file: file("bad", invalid) })).rejects.toThrow(
      "spec.nodes.brokers.image: Image missing",
    );
  });

  it("shows the owner that is part of the hashes, if the file names it", async () => {
    const uid = "0f5ad3c5-2f9d-4d5b-9f41-111122223333";
    const path = file("owned", { ...old, metadata: { ...old.metadata, uid } });
    const { items } = JSON.parse(await ran(runRender, { file: path, output: "json" }));
    expect(items[0].metadata.ownerReferences).toEqual([
      { apiVersion: "druid.apache.org/v1alpha1", kind: "Druid", name: "tiny", uid, controller: true },
    ]);
  });

  it("names unknown fields of a Druid, and those without effect", async () => {
    const brokers = { ...old.spec.nodes.brokers, replica: 3, maxSurge: 1 };
    const path = file("odd", { ...old, spec: { ...old.spec, "druid.zone": "a", nodes: { brokers } } });
    const warnings: string[] = [];
    await ran(runRender, { file: path }, warnings);
    expect(warnings).toEqual([
      `${path}: spec.nodes.brokers.replica is no field of a Druid, and left out`,
      `${path}: spec["druid.zone"] is no field of a Druid, and left out`,
      `${path}: spec.nodes.brokers.maxSurge has no effect: a StatefulSet cannot surge`,
    ]);
  });

  it.each([
    ["metadata.name", { metadata: { ...old.metadata, name: undefined } }],
    ["metadata.name", { metadata: { ...old.metadata, name: "My_Druid" } }],
    ["spec.auth.secretRef: is required", { spec: { ...old.spec, auth: { type: "basic-auth" } } }],
    ["spec.nodes: must be of type object", { spec: { ...old.spec, nodes: [] } }],
  ])("refuses an object by its %s", async (problem, change) => {
    await expect(ran(runRender, { file: file("bad", { ...old, ...change }) })).rejects.toThrow(problem);
  });
});
