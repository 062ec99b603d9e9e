import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { rolldown } from "rolldown";
import { systemClock } from "setpoint";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "setpoint/kinds/admissionregistration.k8s.io/v1";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Lease } from "setpoint/kinds/coordination.k8s.io/v1";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Coupon } from "./07-admission.js";
import { VolumeV1, VolumeV1beta1 } from "./08-conversion.js";
import { Desk, Team } from "./10-several-apps.js";
import { Job } from "./11-leader-election.js";

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
  // Beside the sources, so that the process finds the packages: their builds, as a user would.
  folder = mkdtempSync(join(import.meta.dirname, "dist", "processes-"));
  plane = await controlPlane({ listen: {} });
  writeFileSync(join(folder, "kubeconfig"), plane.kubeconfig!, { mode: 0o600 });
  await plane.client.create(CustomResourceDefinition, Job.crd());
}, 60_000);
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A program in a process of its own. */
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

async function bundled(file: string): Promise<string> {
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
  (await plane.client.find(Lease, "jobs", here))?.spec?.holderIdentity;
const runs = async (name: string): Promise<number | undefined> =>
  (await plane.client.get(Job, name, here)).status?.runs;

describe("processes", () => {
  it("11: of two one works; the other takes over when it is told to end, and when it is killed", async () => {
    const file = await bundled(join(import.meta.dirname, "11-leader-election.ts"));
    await using first = new Program(file, "first");
    await until(async () => (await holder())?.startsWith("first"));
    await using second = new Program(file, "second");
    const create = (name: string) =>
      plane.client.create(Job, { metadata: { namespace, name }, spec: { command: "true" } });
    await create("a");
    expect(await until(() => runs("a"))).toBe(1);
    await until(() => second.output.includes("waiting for the lease"));

    first.process.kill("SIGTERM");
    expect([await first.ended, first.output]).toEqual([0, expect.any(String)]);
    await until(async () => (await holder())?.startsWith("second"));
    await create("b");
    expect(await until(() => runs("b"))).toBe(1);

    await using third = new Program(file, "third");
    await until(() => third.output.includes("waiting for the lease"));
    second.process.kill("SIGKILL");
    await create("c");
    expect(await until(() => runs("c"))).toBe(1);
    expect(await holder()).toMatch(/^third/);
    expect(await Promise.all(["a", "b"].map(runs))).toEqual([1, 1]);
  }, 90_000);

  it("07 to 10: apps are installed and served by run alone, and take their webhooks along when they end", async () => {
    const names = ["07-admission", "08-conversion", "09-custom-route", "10-several-apps"];
    const files = await Promise.all(names.map((name) => bundled(join(import.meta.dirname, `${name}.ts`))));
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

  it("outlive what a reconcile leaves unhandled, and say so", async () => {
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
