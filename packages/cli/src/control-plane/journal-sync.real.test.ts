import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "setpoint";
import { systemClock } from "setpoint/clock";
import { ConfigMap } from "setpoint/kinds/v1";
import { expect, it } from "vitest";
import { startServer } from "./testing/server-process.js";

/** The calls of a traced process, in order. */
type Step = "journal written" | "journal synced" | "answered";

const WRITES = 30;

it("syncs the journal between each write and its acknowledgement (needs strace)", { timeout: 120_000 }, async () => {
  execFileSync("strace", ["-V"], { stdio: "ignore" });
  const folder = mkdtempSync(join(tmpdir(), "setpoint-trace-"));
  try {
    const trace = join(folder, "trace");
    const calls = "trace=write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync";
    const prefix = ["strace", "-f", "-yy", "-s", "0", "-e", calls, "-o", trace];
    {
      await using server = await startServer({ folder, prefix });
      await using client = await connect({ kubeconfig: server.kubeconfig });
      await client.list(ConfigMap);
      await untilQuiet(trace);
      const before = readFileSync(trace, "utf8").length;
      for (let at = 0; at < WRITES; at++) {
        await client.create(ConfigMap, { metadata: { name: `write-${at}`, namespace: "default" } });
      }
      const traced = (): Step[] => stepsOf(readFileSync(trace, "utf8").slice(before));
      // A response arrives before strace has printed the call that sent it.
      await expect.poll(() => roundsOf(traced()), { timeout: 30_000 }).toBe(WRITES);
      const steps = traced();
      expect(steps.filter((step) => step === "answered").length).toBeGreaterThanOrEqual(WRITES);
      expect(unsyncedAnswers(steps)).toBe(0);
      expect(roundsOf(steps)).toBe(WRITES);
      process.kill(childOf(server.process.pid!), "SIGTERM");
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** After its start the server fills its log, and its controllers write; those writes belong to no request. */
async function untilQuiet(trace: string): Promise<void> {
  const journalSteps = (): number => stepsOf(readFileSync(trace, "utf8")).filter((step) => step !== "answered").length;
  for (let before = -1, now = 0; before !== now || now === 0; ) {
    await systemClock.sleep(2000);
    [before, now] = [now, journalSteps()];
  }
}

/** How often a write was synced, and then acknowledged. */
function roundsOf(steps: readonly Step[]): number {
  const rounds = /journal written\n(journal written\n)*journal synced\n(journal synced\n)*answered/g;
  return steps.join("\n").match(rounds)?.length ?? 0;
}

/** A response is unsynced if the journal was written after its last completed sync. */
function unsyncedAnswers(steps: readonly Step[]): number {
  let isDirty = false;
  let count = 0;
  for (const step of steps) {
    if (step === "answered" && isDirty) count++;
    if (step !== "answered") isDirty = step === "journal written";
  }
  return count;
}

/** A sync counts when it has returned, a write or a response when it starts. */
function stepsOf(trace: string): Step[] {
  const syncing = new Set<string>();
  return trace.split("\n").flatMap((line): Step[] => {
    const [, thread = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (/^f(data)?sync\(/.test(call) && call.includes("journal.db-wal")) {
      if (!call.includes("<unfinished")) return call.endsWith("= 0") ? ["journal synced"] : [];
      syncing.add(thread);
    } else if (/^<\.\.\. f(data)?sync resumed/.test(call) && syncing.delete(thread)) {
      return call.endsWith("= 0") ? ["journal synced"] : [];
    } else if (/^p?writev?(64)?\(/.test(call) && call.includes("journal.db-wal")) {
      return ["journal written"];
    } else if (/^(write|writev|sendto|sendmsg)\(\d+<TCP/.test(call)) {
      return ["answered"];
    }
    return [];
  });
}

/** strace's child process: the server itself. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}
