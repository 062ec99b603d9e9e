import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Mutant, mutants } from "./mutant-list.js";

const HELP = `Breaks behaviours of the control plane one by one and looks whether the conformance suite notices.

  npm run conformance:mutants                      all, with answers of a real server that is started for it
  npm run conformance:mutants -- --against FILE    with the answers that \`npm run conformance -- --record FILE\` kept
  npm run conformance:mutants -- --every 3         the first, the fourth, …
  npm run conformance:mutants -- --only quotas     those of one area, or of several
`;

/** The minimum share of noticed mutants: 27 of 30. */
const NEEDED = 0.9;

/** Patience with a mutant: a broken controller never reaches the awaited state. */
const BRIEF_SECONDS = 8;
/** Patience without one: the state is reached, however busy the machine is. */
const LONG_SECONDS = 60;

const { values: options } = parseArgs({
  options: {
    against: { type: "string" },
    every: { type: "string", default: "1" },
    only: { type: "string", multiple: true },
    help: { type: "boolean", short: "h" },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const suite = join(root, "conformance/dist/conformance.js");

/** A copy of the packages whose control plane can be broken and built without touching the checkout. */
function workshop(): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-mutants-"));
  for (const name of ["packages", "operators", "tools", "package.json", "tsconfig.base.json"]) {
    const isKept = (path: string): boolean => !/node_modules|tools\/kubernetes/.test(path);
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: isKept });
  }
  // Dependencies are those of the checkout; only our own packages are copies.
  mkdirSync(join(folder, "node_modules/@setpoint"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name === "setpoint" || name === "@setpoint") continue;
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(join(folder, "packages/setpoint"), join(folder, "node_modules/setpoint"));
  for (const name of ["sqlite", "control-plane", "cli"]) {
    symlinkSync(join(folder, "packages", name), join(folder, "node_modules/@setpoint", name));
  }
  for (const name of readdirSync(join(folder, "operators"))) {
    symlinkSync(join(folder, "operators", name), join(folder, "node_modules/@setpoint", name));
  }
  return folder;
}

/** Breaks one behaviour, runs the suite against the recorded responses of the real server, and restores it. */
function isNoticed(folder: string, { area, file, find, replace }: Mutant, transcripts: string): boolean {
  const path = join(folder, "packages/control-plane/src", file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) throw new Error(`${file}: expected once: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    const broken = relative(folder, path).split("/").slice(0, 2).join("/");
    execFileSync(process.execPath, ["tools/build/bundle.mjs", broken], { cwd: folder });
    return !passes(folder, transcripts, area, BRIEF_SECONDS);
  } finally {
    writeFileSync(path, source);
  }
}

/** Whether an area agrees with the recorded responses; waits for controllers for at most `patience` seconds. */
function passes(folder: string, transcripts: string, area: string, patience: number): boolean {
  const bin = join(folder, "packages/setpoint/bin/setpoint.js");
  const args = ["--against", transcripts, "--bin", bin, "--only", `${area}: `, "--patience", String(patience)];
  return spawnSync(process.execPath, [suite, ...args], { timeout: 400_000 }).status === 0;
}

const folder = workshop();
try {
  const transcripts = options.against ?? join(folder, "transcripts.json");
  if (options.against === undefined) {
    const only = (options.only ?? []).flatMap((area) => ["--only", `${area}: `]);
    const recorded = spawnSync(process.execPath, [suite, "--record", transcripts, ...only], { encoding: "utf8" });
    if (recorded.status !== 0)
      throw new Error(`the suite must pass before it is tried:\n${recorded.stdout.slice(-2000)}`);
  }
  const tried = mutants
    .filter(({ area }) => options.only?.includes(area) ?? true)
    .filter((_, index) => index % Number(options.every) === 0);
  for (const area of new Set(tried.map((mutant) => mutant.area))) {
    if (!passes(folder, transcripts, area, LONG_SECONDS))
      throw new Error(`${area}: the kept answers must be met before it is tried`);
  }
  let noticed = 0;
  for (const mutant of tried) {
    const seen = isNoticed(folder, mutant, transcripts);
    if (seen) noticed++;
    console.log(`${seen ? "noticed" : "MISSED "}  ${mutant.area}: ${mutant.behaviour}`);
  }
  console.log(`${noticed} of ${tried.length} broken behaviours noticed; nine in ten are needed`);
  process.exitCode = noticed >= tried.length * NEEDED ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
