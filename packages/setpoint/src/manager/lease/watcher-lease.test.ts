import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Client } from "../../client/client.js";
import { systemClock } from "../../clock/system-clock.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { BuiltProcess } from "../built-process.testing.js";

const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
  controlPlane: (options: {
    listen: object;
  }) => Promise<AsyncDisposable & { readonly client: Client; readonly kubeconfig: string }>;
};

const SECONDS_120 = 120_000;
const here = { namespace: "default" };
const labels = { watched: "yes" };

/** Writes a line for each handled step; a slow object waits for a file, and is then marked by a request. */
const WATCHER = `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { connect, run, watcher } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
const { IDENTITY: identity, STEPS: steps, GATE: gate } = process.env;
const client = await connect();
const note = (type, { metadata, data }) => appendFileSync(steps, [identity, type, metadata.name, data.value].join(" ") + "\\n");
const watched = watcher(ConfigMap, {
  namespaces: ["default"],
  labelSelector: "watched=yes",
  async add(object, ctx) {
    note("add", object);
    if (object.metadata.name !== "slow") return;
    while (!existsSync(gate)) await setTimeout(20);
    const body = { data: { [identity]: "done" } };
    await client.patch(ConfigMap, "slow", { type: "merge", body }, { namespace: "default", signal: ctx.signal });
  },
  update: (object) => note("update", object),
});
const times = { lease: 8_000, renew: 7_000, retry: 300 };
await run(watched, { leaderElection: { namespace: "default", name: "watched", identity, ...times } });
`;

describe("a watcher that was suspended past its lease", () => {
  it(
    "handles no further step, nor continues one; the next leader handles all of them",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "setpoint-steps-"));
      const [file, gate] = [join(folder, "steps"), join(folder, "gate")];
      writeFileSync(file, "");
      const steps = (identity: string): string[] => {
        const lines = readFileSync(file, "utf8").trim().split("\n");
        return lines.filter((line) => line.startsWith(`${identity} `)).map((line) => line.slice(identity.length + 1));
      };
      await using plane = await controlPlane({ listen: {} });
      const { client } = plane;
      const start = (identity: string) =>
        new BuiltProcess(WATCHER, plane.kubeconfig, { IDENTITY: identity, STEPS: file, GATE: gate });
      const create = (name: string) =>
        client.create(ConfigMap, { metadata: { ...here, name, labels }, data: { value: "1" } });
      const set = (name: string, value: string) =>
        client.patch(ConfigMap, name, { type: "merge", body: { data: { value } } }, here);

      await using stopped = start("stopped");
      const seen = async (process: BuiltProcess, identity: string, ...wanted: string[]): Promise<void> => {
        while (!wanted.every((step) => steps(identity).includes(step))) {
          process.assertRunning();
          await systemClock.sleep(50);
        }
      };
      await create("first");
      await seen(stopped, "stopped", "add first 1");
      await create("slow");
      await seen(stopped, "stopped", "add slow 1");
      stopped.process.kill("SIGSTOP");
      writeFileSync(gate, "");

      await set("first", "2");
      await create("second");
      await using next = start("next");
      await seen(next, "next", "add first 2", "add slow 1", "add second 1");
      await set("first", "3");
      stopped.process.kill("SIGCONT");
      expect(await stopped.ended).toBe(1);
      expect(stopped.output).toContain("LEASE_LOST");
      await set("first", "4");
      await seen(next, "next", "update first 3", "update first 4");

      expect(steps("stopped")).toEqual(["add first 1", "add slow 1"]);
      expect(steps("next").filter((step) => step.includes("first"))).toEqual([
        "add first 2",
        "update first 3",
        "update first 4",
      ]);
      for (;;) {
        const { data } = await client.get(ConfigMap, "slow", here);
        expect(data).not.toHaveProperty("stopped");
        if (data?.next === "done") break;
        await systemClock.sleep(50);
      }
      rmSync(folder, { recursive: true, force: true });
    },
    SECONDS_120,
  );
});
