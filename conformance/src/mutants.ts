import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, mutants } from "./mutant-list.js";

/** Below this many of the mutants noticed, the suite is not worth its name. */
const NEEDED = 27;

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const suite = join(root, "conformance/dist/run.js");

/** A copy of the packages whose control plane can be broken and built without touching the checkout. */
function workshop(): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-mutants-"));
  for (const name of ["packages", "operators", "tools", "package.json", "tsconfig.base.json"]) {
    const isKept = (path: string): boolean => !/node_modules|tools\/kubernetes/.test(path);
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: isKept });
  }
  // Every dependency is the checkout's; only our own packages are the copies.
  mkdirSync(join(folder, "node_modules/@setpoint"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name === "setpoint" || name === "@setpoint") continue;
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(join(folder, "packages/setpoint"), join(folder, "node_modules/setpoint"));
  for (const name of ["sqlite", "control-plane", "cli"]) {
    symlinkSync(join(folder, "packages", name), join(folder, "node_modules/@setpoint", name));
  }
  symlinkSync(join(folder, "operators/rancher-projects"), join(folder, "node_modules/@setpoint/rancher-projects"));
  return folder;
}

/** Breaks one behaviour, runs the suite against the kept answers of the real server, and mends it again. */
function isNoticed(folder: string, { file, find, replace }: Mutant, transcripts: string): boolean {
  const path = join(folder, "packages/control-plane/src", file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) throw new Error(`${file}: expected once: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    execFileSync(process.execPath, ["tools/build/bundle.mjs", "packages/control-plane"], { cwd: folder });
    const bin = join(folder, "packages/setpoint/bin/setpoint.js");
    return (
      spawnSync(process.execPath, [suite, "--against", transcripts, "--bin", bin], { timeout: 400_000 }).status !== 0
    );
  } finally {
    writeFileSync(path, source);
  }
}

const folder = workshop();
const transcripts = process.argv[2] ?? join(folder, "transcripts.json");
try {
  if (process.argv[2] === undefined) {
    const recorded = spawnSync(process.execPath, [suite, "--record", transcripts], { encoding: "utf8" });
    if (recorded.status !== 0)
      throw new Error(`the suite must pass before it is tried:\n${recorded.stdout.slice(-2000)}`);
  }
  let noticed = 0;
  for (const mutant of mutants) {
    const seen = isNoticed(folder, mutant, transcripts);
    if (seen) noticed++;
    console.log(`${seen ? "noticed" : "MISSED "}  ${mutant.behaviour}`);
  }
  console.log(`${noticed} of ${mutants.length} broken behaviours noticed, ${NEEDED} needed`);
  process.exitCode = noticed >= NEEDED ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
