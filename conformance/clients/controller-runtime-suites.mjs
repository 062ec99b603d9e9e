// Runs controller-runtime's own test suites, unmodified, through `setpoint envtest-assets` and on a real kube-apiserver:
//
//   npm run conformance:controller-runtime [-- [--here] PACKAGE…]
//
// Prints for each package how many specs pass on either, and fails where one passes on the real server alone. Packages are
// named as below pkg/: `client`, `internal/controller`. `--here` runs the embedded control plane alone.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { kubernetesBinaries } from "../../tools/kubernetes/start.mjs";

const MODULE = "sigs.k8s.io/controller-runtime";
const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const isHereAlone = args.includes("--here");
const wanted = args.filter((arg) => !arg.startsWith("--"));

const go = (folder, ...rest) =>
  execFileSync("go", rest, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** The version that our own Go programs use, copied out of the module cache, which is not to be written to. */
function sources() {
  const program = join(here, "controller-runtime");
  const { Version: version, Dir: folder } = JSON.parse(go(program, "list", "-m", "-json", MODULE));
  const cache = process.env.SETPOINT_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "setpoint");
  const copy = join(cache, `controller-runtime-${version}`);
  if (!existsSync(copy)) {
    mkdirSync(cache, { recursive: true });
    cpSync(folder, copy, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", copy]);
  }
  return copy;
}

/** The packages below pkg/ that have tests. */
function packagesOf(root, below = "") {
  const folder = join(root, "pkg", below);
  const entries = readdirSync(folder, { withFileTypes: true });
  const own = below !== "" && entries.some(({ name }) => name.endsWith("_test.go")) ? [below] : [];
  const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== "testdata");
  return [...own, ...inner.flatMap(({ name }) => packagesOf(root, below === "" ? name : `${below}/${name}`))];
}

/** The names of the specs that passed, and how many were run. */
async function specsOf(program, folder, assets, kubectl) {
  const scratch = mkdtempSync(join(tmpdir(), "setpoint-suites-"));
  const report = join(scratch, "report.json");
  const env = { ...process.env, KUBEBUILDER_ASSETS: assets, PATH: `${process.env.PATH}${delimiter}${kubectl}` };
  const child = spawn("nice", [program, `-ginkgo.json-report=${report}`, "-test.timeout=15m"], {
    cwd: folder,
    env,
    stdio: "ignore",
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  const suites = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : [];
  rmSync(scratch, { recursive: true, force: true });
  const specs = suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ LeafNodeType }) => LeafNodeType === "It");
  const named = (states) =>
    specs
      .filter(({ State }) => states.includes(State))
      .map(({ ContainerHierarchyTexts, LeafNodeText }) => [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" "));
  return {
    code,
    hasReport: suites.length > 0,
    passed: named(["passed"]),
    run: named(["passed", "failed", "panicked", "interrupted", "timedout"]).length,
  };
}

const root = sources();
const binaries = kubernetesBinaries();
const scratch = mkdtempSync(join(tmpdir(), "setpoint-assets-"));
execFileSync(process.execPath, [join(here, "../../packages/setpoint/dist/bin.js"), "envtest-assets", scratch], {
  stdio: "ignore",
});

let missing = 0;
const total = { here: 0, real: 0 };
console.log(`${MODULE} ${root.split("-").at(-1)}\n${"package".padEnd(34)} specs   here   real`);
for (const name of wanted.length > 0 ? wanted : packagesOf(root)) {
  const program = join(scratch, `${name.replaceAll("/", "-")}.test`);
  go(root, "test", "-c", "-o", program, `./pkg/${name}`);
  if (!existsSync(program)) continue;
  const folder = join(root, "pkg", name);
  const ours = await specsOf(program, folder, scratch, binaries);
  const real = isHereAlone ? ours : await specsOf(program, folder, binaries, binaries);
  rmSync(program);
  // Tests without Ginkgo give no report: what counts is whether they pass.
  const show = (side) => (side.hasReport ? String(side.passed.length) : side.code === 0 ? "ok" : "FAIL").padStart(6);
  console.log(
    `${name.padEnd(34)} ${String(real.hasReport ? real.run : "-").padStart(5)} ${show(ours)} ${isHereAlone ? "" : show(real)}`,
  );
  total.here += ours.passed.length;
  total.real += real.passed.length;
  const lost = real.passed.filter((spec) => !ours.passed.includes(spec));
  for (const spec of lost) console.log(`  only on the real server: ${spec}`);
  missing += lost.length + (real.code === 0 && !real.hasReport && ours.code !== 0 ? 1 : 0);
}
console.log(
  `${"all".padEnd(34)}       ${String(total.here).padStart(6)} ${isHereAlone ? "" : String(total.real).padStart(6)}`,
);
rmSync(scratch, { recursive: true, force: true });
process.exitCode = missing > 0 ? 1 : 0;
