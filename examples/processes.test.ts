import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { rolldown } from "rolldown";
import { systemClock } from "setpoint/clock";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "setpoint/kinds/admissionregistration.k8s.io/v1";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Lease } from "setpoint/kinds/coordination.k8s.io/v1";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Greeting } from "./01-minimal.js";
import { Website } from "./02-owned-children.js";
import { DnsRecord } from "./03-finalizer.js";
import { Banner } from "./04-tracked-config-map.js";
import { Database } from "./05-external-system.js";
import { Order } from "./06-watcher.js";
import { Coupon } from "./07-admission.js";
import { VolumeV1, VolumeV1beta1 } from "./08-conversion.js";
import { Desk, Team } from "./10-several-apps.js";

const namespace = "default";
const here = { namespace };
const CARELESS = `
import { controller, run } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
const careless = controller(ConfigMap, {
  namespaces: ["default"],
  async reconcile({ metadata: { name }, data }, ctx) {
    if (!name.startsWith("careless") || data) return;
    void Promise.reject(new Error("nobody awaits this"));
    await ctx.patch(ConfigMap, name, { type: "merge", body: { data: { done: "yes" } } });
  },
});
await run(careless);
`;
let folder: string;
let plane: ControlPlane;

beforeAll(async () => {
  // Beside the sources, so that the process resolves the built packages, as for a user.
  folder = mkdtempSync(join(import.meta.dirname, "dist", "processes-"));
  plane = await controlPlane({ listen: {} });
  writeFileSync(join(folder, "kubeconfig"), plane.kubeconfig!, { mode: 0o600 });
  const kinds = [Greeting, Website, DnsRecord, Banner, Database, Order];
  for (const kind of kinds) await plane.client.create(CustomResourceDefinition, kind.crd());
}, 60_000);
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A program in its own process. */
class Program implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output = "";

  constructor(file: string, name: string) {
    const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOSTNAME: name };
    this.process = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on("data", (chunk) => {
        this.output += String(chunk);
      });
    }
    this.ended = new Promise((resolve) => this.process.once("close", resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
  }
}

/** An example run by Node: unchanged if Node supports TypeScript, otherwise compiled. */
async function runnable(name: string): Promise<string> {
  const file = join(import.meta.dirname, `${name}.ts`);
  if ((process.features as { typescript?: unknown }).typescript) return file;
  const bundle = await rolldown({
    input: file,
    external: [/^setpoint/, "zod"],
    platform: "node",
    transform: { target: "node20" },
  });
  const output = join(folder, `${basename(file, ".ts")}.mjs`);
  await bundle.write({ file: output, format: "esm" });
  await bundle.close();
  return output;
}

async function until<T>(holds: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const value = await holds();
    if (value) return value;
    await systemClock.sleep(50);
  }
}

async function endedEarly(program: Program): Promise<never> {
  const code = await program.ended;
  throw new Error(`a program ended with ${code}: ${program.output}`);
}

const holder = async (): Promise<string | undefined> =>
  (await plane.client.find(Lease, "greetings", here))?.spec?.holderIdentity;
const greeted = async (name: string): Promise<string | undefined> =>
  (await plane.client.get(Greeting, name, here)).status?.text;
const versionOf = async (name: string): Promise<string | undefined> =>
  (await plane.client.get(Greeting, name, here)).metadata.resourceVersion;

describe("processes", () => {
  it("one of two works; the other takes over when it is stopped or killed [11]", async () => {
    const file = await runnable("11-leader-election");
    await using first = new Program(file, "first");
    await until(async () => (await holder())?.startsWith("first"));
    await using second = new Program(file, "second");
    const create = (name: string) => plane.client.create(Greeting, { metadata: { namespace, name }, spec: { name } });
    await create("a");
    expect(await until(() => greeted("a"))).toBe("Hello, a!");
    const versionOfA = await versionOf("a");
    await until(() => second.output.includes("waiting for the lease"));

    first.process.kill("SIGTERM");
    expect([await first.ended, first.output]).toEqual([0, expect.any(String)]);
    await until(async () => (await holder())?.startsWith("second"));
    await create("b");
    expect(await until(() => greeted("b"))).toBe("Hello, b!");
    const versionOfB = await versionOf("b");

    await using third = new Program(file, "third");
    await until(() => third.output.includes("waiting for the lease"));
    second.process.kill("SIGKILL");
    await create("c");
    expect(await until(() => greeted("c"))).toBe("Hello, c!");
    expect(await holder()).toMatch(/^third/);
    // The successor finds the finished work, and does not repeat it.
    expect(await Promise.all(["a", "b"].map(versionOf))).toEqual([versionOfA, versionOfB]);
  }, 90_000);

  it("each works when run by Node, and ends when told to [01 to 06]", async () => {
    const { client } = plane;
    const metadata = { namespace, name: "one" };
    const names = [
      ...["01-minimal", "02-owned-children", "03-finalizer"],
      ...["04-tracked-config-map", "05-external-system", "06-watcher"],
    ];
    const files = await Promise.all(names.map(runnable));
    const programs = files.map((file) => new Program(file, basename(file)));
    const audit = programs.at(-1)!;
    const work = async (): Promise<void> => {
      await client.create(Greeting, { metadata, spec: { name: "Ann" } });
      expect(await until(() => greeted("one"))).toBe("Hello, Ann!");
      await client.create(Website, { metadata, spec: { image: "nginx" } });
      await until(() => client.find(Deployment, "one", here));
      await client.create(DnsRecord, { metadata, spec: { host: "one.example", address: "10.0.0.1" } });
      await until(async () => (await client.get(DnsRecord, "one", here)).metadata.finalizers);
      await client.delete(DnsRecord, "one", here);
      await until(async () => !(await client.find(DnsRecord, "one", here)));
      await client.create(Banner, { metadata, spec: { settings: "one" } });
      await client.create(ConfigMap, { metadata, data: { text: "one" } });
      await until(async () => (await client.get(Banner, "one", here)).status?.text === "one");
      const { metadata: made } = await client.create(Database, { metadata, spec: { size: 1 } });
      const url = await until(async () => (await client.get(Database, "one", here)).status?.url);
      expect(url).toBe(`postgres://${made.uid}.example.com`);
      await client.create(Order, { metadata, spec: { item: "tea", count: 1 } });
      await until(() => audit.output.includes("one: ordered 1 tea"));
    };
    try {
      await Promise.race([work(), ...programs.map(endedEarly)]);
      for (const program of programs) program.process.kill("SIGTERM");
      expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual(names.map(() => 0));
    } finally {
      for (const program of programs) await program[Symbol.asyncDispose]();
    }
  }, 90_000);

  it("run installs and serves apps, and removes their webhooks when it ends [07 to 10]", async () => {
    const names = ["07-admission", "08-conversion", "09-custom-route", "10-several-apps"];
    const files = await Promise.all(names.map(runnable));
    const programs = files.map((file) => new Program(file, basename(file)));
    try {
      const { client } = plane;
      const metadata = { namespace, name: "app" };
      const served = until(
        async () =>
          programs.every(({ output }) => output.includes("serving webhooks")) &&
          (await client.list(ValidatingWebhookConfiguration)).items.length === 2 &&
          (await client.list(MutatingWebhookConfiguration)).items.length === 1 &&
          (await client.find(CustomResourceDefinition, "volumes.disk.example.com")),
      );
      await Promise.race([served, ...programs.map(endedEarly)]);
      const coupon = await client.create(Coupon, { metadata, spec: { code: "spring", percent: 10 } });
      expect(coupon.spec.code).toBe("SPRING");
      await client.create(VolumeV1beta1, { metadata, spec: { sizeMi: 2048 } });
      expect((await client.get(VolumeV1, "app", here)).spec).toEqual({ size: { amount: 2, unit: "Gi" } });
      await expect(client.create(Team, { metadata, spec: { members: [] } })).rejects.toThrow("a team has members");
      await client.create(Team, { metadata, spec: { members: ["ann"] } });
      await client.create(Desk, { metadata, spec: { team: "app" } });
      expect(await until(async () => (await client.get(Desk, "app", here)).status?.seats)).toBe(1);

      for (const program of programs) program.process.kill("SIGTERM");
      expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
      expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    } finally {
      for (const program of programs) await program[Symbol.asyncDispose]();
    }
  }, 90_000);

  it("survive an unhandled rejection of a reconcile, and log it", async () => {
    const careless = join(folder, "careless.mjs");
    writeFileSync(careless, CARELESS);
    await using program = new Program(careless, "careless");
    const mapped = async (name: string) => {
      await plane.client.create(ConfigMap, { metadata: { namespace, name } });
      return until(async () => (await plane.client.get(ConfigMap, name, here)).data);
    };
    expect(await mapped("careless-1")).toEqual({ done: "yes" });
    await until(() => program.output.includes("nobody awaits this"));
    expect(await mapped("careless-2")).toEqual({ done: "yes" });
    program.process.kill("SIGTERM");
    expect(await program.ended).toBe(0);
  }, 60_000);
});
