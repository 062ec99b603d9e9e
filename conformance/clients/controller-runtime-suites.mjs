// Runs controller-runtime's own test suites, unmodified, through `setpoint envtest-assets` and on a real kube-apiserver:
//
//   npm run conformance:controller-runtime [-- [--only PACKAGE]… [--side here|real] [--fresh] [--minutes N]]
//
// Prints for each package how many specs pass on either server, and exits with 1 if one passes on the real server only.
// The suites have timeouts of a second or a few: such a spec is repeated here, alone, and printed either way.
// Packages are named relative to pkg/: `client`, `internal/controller`. Results are cached for each package, side and
// version of both, so that an interrupted run continues where it was; `--fresh` ignores the cache.
// `--minutes N` starts no further package after N minutes; the table then shows what is missing, and the exit code is 2.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { kubernetesBinaries } from "../../tools/kubernetes/start.mjs";

const MODULE = "sigs.k8s.io/controller-runtime";
const SIDES = ["here", "real"];
const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, "../../packages");
const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    side: { type: "string", multiple: true, default: SIDES },
    fresh: { type: "boolean", default: false },
    minutes: { type: "string", default: "Infinity" },
  },
});
const endsAt = performance.now() + Number(values.minutes) * 60_000;

const go = (folder, ...rest) =>
  execFileSync("go", rest, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** The version that our own Go programs use, copied out of the read-only module cache. */
function sources() {
  const { Version: version, Dir: folder } = JSON.parse(
    go(join(here, "controller-runtime"), "list", "-m", "-json", MODULE),
  );
  const copy = join(cache, `controller-runtime-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    mkdirSync(cache, { recursive: true });
    cpSync(folder, partial, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", partial]);
    // A module's archive does not keep executable bits.
    execFileSync("find", [partial, "-name", "*.sh", "-exec", "chmod", "u+x", "{}", "+"]);
    renameSync(partial, copy);
  }
  return copy;
}

/** The packages below pkg/ that have tests. */
function packagesOf(root, below = "") {
  const entries = readdirSync(join(root, "pkg", below), { withFileTypes: true });
  const own = below !== "" && entries.some(({ name }) => name.endsWith("_test.go")) ? [below] : [];
  const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== "testdata");
  return [...own, ...inner.flatMap(({ name }) => packagesOf(root, below === "" ? name : `${below}/${name}`))];
}

/** The identity of this build: the code that `envtest-assets` runs. */
function buildDigest() {
  const digest = createHash("sha256");
  for (const name of readdirSync(packages).sort()) {
    const folder = join(packages, name, "dist");
    for (const file of readdirSync(folder, { recursive: true }).map(String).sort()) {
      if (file.endsWith(".js")) digest.update(file).update(readFileSync(join(folder, file)));
    }
  }
  return digest.digest("hex").slice(0, 16);
}

/** A package's tests, compiled once; undefined if it has none. */
function programOf(root, name) {
  const program = join(root, "..", `${basename(root)}-tests`, `${name.replaceAll("/", "-")}.test`);
  if (!existsSync(program)) {
    mkdirSync(dirname(program), { recursive: true });
    go(root, "test", "-c", "-o", `${program}.${process.pid}`, `./pkg/${name}`);
    if (!existsSync(`${program}.${process.pid}`)) return undefined;
    renameSync(`${program}.${process.pid}`, program);
  }
  return program;
}

/**
 * Runs a package's tests, or some of them, as `filters` for its program say.
 * @returns the exit code, the names of the specs that passed, and how many were run. Tests without Ginkgo count as specs.
 */
async function resultOf(program, folder, assets, kubectl, filters = []) {
  const scratch = mkdtempSync(join(tmpdir(), "setpoint-suites-"));
  const report = join(scratch, "report.json");
  const env = {
    ...process.env,
    KUBEBUILDER_ASSETS: assets,
    KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: "120s",
    KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT: "60s",
    PATH: `${process.env.PATH}${delimiter}${kubectl}`,
    TMPDIR: scratch,
  };
  const started = performance.now();
  // Low priority outside of CI; in CI other processes would break the suites' timing.
  const command = [...(process.env.CI ? [] : ["nice"]), program];
  const args = [`-ginkgo.json-report=${report}`, "-test.v", "-test.timeout=15m", ...filters];
  const child = spawn(command[0], [...command.slice(1), ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const suites = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : [];
  rmSync(scratch, { recursive: true, force: true });
  const specs = suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType }) => LeafNodeType === "It");
  const named = (...states) =>
    specs
      .filter(({ State }) => states.includes(State))
      .map(({ ContainerHierarchyTexts, LeafNodeText }) => [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" "));
  const tests = [...output.matchAll(/^ *--- (PASS|FAIL): (\S+)/gm)].map(([, state, name]) => ({ state, name }));
  const seconds = Math.round((performance.now() - started) / 1000);
  if (specs.length === 0) {
    const passed = tests.filter(({ state }) => state === "PASS").map(({ name }) => name);
    return { code, passed, run: tests.length, seconds };
  }
  return {
    code,
    passed: named("passed"),
    run: named("passed", "failed", "panicked", "interrupted", "timedout").length,
    seconds,
  };
}

const root = sources();
const binaries = kubernetesBinaries();
const assets = mkdtempSync(join(tmpdir(), "setpoint-assets-"));
execFileSync(process.execPath, [join(packages, "setpoint/dist/bin.js"), "envtest-assets", assets], { stdio: "ignore" });
const sides = {
  here: { assets, version: `setpoint-${buildDigest()}` },
  real: { assets: binaries, version: basename(binaries) },
};

/** A suite whose server did not start ran no spec, which proves nothing about the specs. */
const isWhole = ({ code, run }) => code === 0 || run > 0;

const fileOf = (name, side) => join(`${root}-results`, sides[side].version, `${name.replaceAll("/", "-")}.json`);

function keep(name, side, result) {
  const file = fileOf(name, side);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(result));
}

/** The cached result of a package on a side, or the result of its run; undefined if no time is left. */
async function kept(name, side) {
  const file = fileOf(name, side);
  if (existsSync(file) && !(values.fresh && values.side.includes(side))) return JSON.parse(readFileSync(file, "utf8"));
  if (!values.side.includes(side) || performance.now() > endsAt) return undefined;
  const program = programOf(root, name);
  const result =
    program === undefined
      ? { code: 0, passed: [], run: 0, seconds: 0 }
      : await resultOf(program, join(root, "pkg", name), sides[side].assets, binaries);
  if (!isWhole(result)) return undefined;
  keep(name, side, result);
  return result;
}

/** Repeats specs that failed here, without the others; those that pass now are kept as passed. */
async function withSecondTry(name, ours, specs) {
  const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const isPlain = specs.every((spec) => /^Test\S*$/.test(spec));
  const filters = isPlain
    ? [`-test.run=^(${[...new Set(specs.map((test) => quoted(test.split("/")[0])))].join("|")})$`]
    : specs.map((spec) => `-ginkgo.focus=${quoted(spec)}$`);
  const again = await resultOf(programOf(root, name), join(root, "pkg", name), sides.here.assets, binaries, filters);
  const passed = specs.filter((spec) => again.passed.includes(spec));
  for (const spec of passed) console.log(`  only at the second try here: ${spec}`);
  const result = { ...ours, passed: [...ours.passed, ...passed] };
  keep(name, "here", result);
  return result;
}

const shown = (result) => String(result?.passed.length ?? "?");
const line = (name, specs, ours, real, seconds = "") =>
  console.log(`${name.padEnd(38)} ${String(specs).padStart(5)} ${ours.padStart(6)} ${real.padStart(6)}  ${seconds}`);

/** The specs that pass on the real server only. */
function lost(ours, real) {
  const mine = new Set(ours.passed);
  return real.passed.filter((spec) => !mine.has(spec));
}

let missing = 0;
let unknown = 0;
const total = { specs: 0, here: 0, real: 0 };
console.log(
  `${MODULE} ${basename(root).replace(/^.*-v/, "v")}, here ${sides.here.version}, real ${sides.real.version}`,
);
line("package", "specs", "here", "real", "seconds here, real");
for (const name of values.only ?? packagesOf(root)) {
  let ours = await kept(name, "here");
  const real = await kept(name, "real");
  const doubtful = ours && real ? lost(ours, real) : [];
  if (doubtful.length > 0 && values.side.includes("here")) ours = await withSecondTry(name, ours, doubtful);
  const specs = (real ?? ours)?.run ?? 0;
  line(name, specs, shown(ours), shown(real), `${ours?.seconds ?? "?"}, ${real?.seconds ?? "?"}`);
  if (ours === undefined || real === undefined) unknown++;
  else {
    const alone = lost(ours, real);
    for (const spec of alone) console.log(`  only on the real server: ${spec}`);
    missing += alone.length;
  }
  total.specs += specs;
  total.here += ours?.passed.length ?? 0;
  total.real += real?.passed.length ?? 0;
}
line("all", total.specs, String(total.here), String(total.real));
if (unknown > 0) console.log(`${unknown} packages are not run on both sides yet`);
rmSync(assets, { recursive: true, force: true });
process.exitCode = missing > 0 ? 1 : unknown > 0 ? 2 : 0;
