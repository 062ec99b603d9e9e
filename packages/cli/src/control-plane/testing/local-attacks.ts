import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "setpoint/clock";
import { runMain } from "../../testing/command-line.js";

/** What a file of somebody else holds that must stay as it is. */
const UNTOUCHED = "not yours";

/**
 * What another user of the machine does who can write the folder: a data directory that is open to all (row 10), and
 * links where names can be guessed (row 11). The path of the file that the links lead to.
 */
export function beforeStart(folder: string): string {
  const victim = join(folder, "victim");
  mkdirSync(join(folder, "data"), { recursive: true, mode: 0o755 });
  writeFileSync(victim, UNTOUCHED);
  const names = ["kubeconfig", join("data", "credentials.json"), join("data", "journal.db")];
  for (const name of names.flatMap((each) => [`${each}.new`, `${each}.tmp`])) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(victim, join(folder, name));
  }
  return victim;
}

/** Throws where the server has written through a link, or where others can read what it keeps. */
export function afterStart(folder: string, victim: string): void {
  if (readFileSync(victim, "utf8") !== UNTOUCHED) throw new Error("the server wrote through a link");
  const data = readdirSync(join(folder, "data")).map((name) => join(folder, "data", name));
  for (const file of [join(folder, "kubeconfig"), ...data]) {
    const { mode, isLink } = { mode: lstatSync(file).mode & 0o777, isLink: lstatSync(file).isSymbolicLink() };
    if (!isLink && mode !== 0o600) throw new Error(`${file} has mode ${mode.toString(8)}`);
  }
}

/** A snapshot with an object in it that no server would have stored. */
const POISONED = [
  { setpoint: "snapshot", version: 1, revision: 2, takenAt: "2026-01-01T00:00:00.000Z" },
  { resource: "/configmaps", key: "default/poison", revision: 2, object: { apiVersion: "v1", kind: "ConfigMap" } },
];
/** A server that was started with it would go on for so long. */
const PATIENCE_MS = 10_000;

/** Commands of the administrator that hostile content must not turn against them: rows 12 and 17. What went wrong. */
export async function whileItRuns(folder: string, kubeconfig: string): Promise<readonly string[]> {
  const failures: string[] = [];
  const account = ["--service-account", "default/honest"];
  const why = await runMain(["why", "configmap", "x", "--kubeconfig", kubeconfig, ...account]);
  if (why.code !== 2 || !why.err.includes("name the pod that gets it")) {
    failures.push(`12 a token for whoever has the label: ended with ${why.code}: ${why.err}`);
  }
  const file = join(folder, "poisoned.snapshot");
  writeFileSync(file, POISONED.map((line) => JSON.stringify(line)).join("\n"));
  const late = new AbortController();
  using _patience = systemClock.timer(PATIENCE_MS, () => late.abort());
  const args = ["--ephemeral", "--restore", file, "--listen", "127.0.0.1:0", "--kubeconfig", join(folder, "restored")];
  const restore = await runMain(["control-plane", ...args], { signal: late.signal });
  if (restore.code === 0 || !restore.err.includes("default/poison")) {
    failures.push(`17 a poisoned snapshot: ended with ${restore.code}: ${restore.err}`);
  }
  return failures;
}
