// A folder of 200 tables under Setpoint, dbt-duckdb and SQLMesh: from scratch, unchanged, with one leaf edited, and,
// for ours, from saving a file to the fresh table under `start`. Then 2,000 tables beside the same SQL in stamped
// transactions on bare DuckDB. Checks the rows and sums of all tables of each side. Fails if a limit is exceeded.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { compare, median } from "../report.mjs";
import { interleaved } from "../rounds.mjs";
import { peerPrograms } from "./peers.mjs";
import { measured } from "./process-tree.mjs";
import {
  nameOf,
  ROWS,
  writeDbt,
  writeDbtModel,
  writeSetpoint,
  writeSetpointModel,
  writeSqlmesh,
  writeSqlmeshModel,
} from "./projects.mjs";

const MODELS = Number(process.env.PIPELINES_MODELS ?? 200);
const LARGE = Number(process.env.PIPELINES_LARGE ?? 2_000);
const ROUNDS = Number(process.env.PIPELINES_ROUNDS ?? 5);
const setpoint = fileURLToPath(new URL("../../packages/setpoint/bin/setpoint.js", import.meta.url));
const bare = fileURLToPath(new URL("bare.mjs", import.meta.url));

export async function measure() {
  const bin = peerPrograms();
  const versions = ["dbt-core", "dbt-duckdb", "sqlmesh", "duckdb"].map((name) => versionOf(bin, name));
  console.error(
    `${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, Node ${process.version}, ${versions.join(", ")}`,
  );
  const [ours, dbt, mesh] = await interleaved(ROUNDS, [setpointRound, () => dbtRound(bin), () => meshRound(bin)]);
  const rows = (field, rounds) => rounds.map((round) => round[field]);
  const faster = (field) =>
    median(rows(field, dbt)) < median(rows(field, mesh)) ? ["dbt", rows(field, dbt)] : ["SQLMesh", rows(field, mesh)];
  const large = await interleaved(ROUNDS, [largeRound, bareRound]);
  const results = [
    compare(`cold, ${MODELS} models`, "s", rows("cold", ours), ...faster("cold")),
    compare("nothing changed", "s", rows("same", ours), "SQLMesh", rows("same", mesh)),
    compare("one leaf edited", "s", rows("leaf", ours), ...faster("leaf")),
    compare("under start, save to fresh", "s", rows("save", ours), ...faster("leaf")),
    compare("peak memory", "MB", rows("peakMb", ours), "dbt", rows("peakMb", dbt)),
    compare(`cold, ${LARGE} models`, "s", rows("seconds", large[0]), "bare DuckDB, stamped", rows("seconds", large[1])),
    compare(`peak memory, ${LARGE} models`, "MB", rows("peakMb", large[0]), "bare", rows("peakMb", large[1])),
  ];
  const failures = results.filter(({ ours, theirs }, at) => ours > LIMITS[at](theirs)).map(({ metric }) => metric);
  console.error(failures.length === 0 ? "verdict: it held" : `verdict: it did not hold: ${failures.join(", ")}`);
  if (failures.length > 0) process.exitCode = 1;
  return results;
}

/** The limits for ours, by the peer's value, in the order of the results. */
const LIMITS = [
  (theirs) => 0.1 * theirs,
  (theirs) => 0.15 * theirs,
  (theirs) => 0.1 * theirs,
  (theirs) => 0.03 * theirs,
  (theirs) => theirs,
  (theirs) => 1.15 * theirs,
  (theirs) => theirs + 100,
];

function versionOf(bin, name) {
  const pin = readFileSync(new URL("requirements.txt", import.meta.url), "utf8").split("\n");
  return pin.find((line) => line.startsWith(`${name}==`)) ?? `${name} in ${bin}`;
}

/** The sum over the tables of a database, computed by another process, so that neither side checks itself. */
const CHECK = `import duckdb, sys, json
c = duckdb.connect(sys.argv[1], read_only=True)
print(json.dumps([list(map(int, c.execute(f"select count(*), sum(v) from {t}").fetchone())) for t in sys.argv[2:]]))`;

async function check(database, tables, expected) {
  const { out } = await measured(join(peerPrograms(), "python"), ["-c", CHECK, database, ...tables]);
  const found = JSON.parse(out);
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${database}: ${tables.join(", ")} hold ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
}

/** Rows and sum of a model, computed independently of all sides. */
function expected(at, offset = 0) {
  const layers = Math.floor(at / 10);
  const factor = (at % 10) + 1;
  return [ROWS, (factor * ROWS * (ROWS - 1)) / 2 + (layers + offset) * ROWS];
}

const leaf = MODELS - 1;
const seen = Array.from({ length: MODELS }, (_, at) => at);

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "pipelines-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const command = (...args) => measured(process.execPath, [setpoint, "pipelines", ...args]);

function setpointRound() {
  return inFolder(async (folder) => {
    writeSetpoint(folder, MODELS);
    const database = join(folder, ".setpoint", "main.duckdb");
    const cold = await command("run", folder, "-o", "json");
    await check(
      database,
      seen.map(nameOf),
      seen.map((at) => expected(at)),
    );
    const same = await command("run", folder, "-o", "json");
    const { executed } = JSON.parse(same.out);
    if (executed.length > 0) throw new Error(`nothing changed, yet ${executed.length} models ran`);
    writeSetpointModel(folder, leaf, 5);
    const edited = await command("run", folder, "-o", "json");
    if (JSON.parse(edited.out).executed.length !== 1) throw new Error("one leaf was edited, yet not one model ran");
    await check(database, [nameOf(leaf)], [expected(leaf, 5)]);
    const save = await saveToFresh(folder);
    await check(database, [nameOf(leaf)], [expected(leaf, 7)]);
    return {
      cold: cold.seconds,
      same: same.seconds,
      leaf: edited.seconds,
      save,
      peakMb: Math.max(cold.peakMb, same.peakMb, edited.peakMb),
    };
  });
}

/** Under `start`: from saving a file to the line that reports its table as fresh. */
async function saveToFresh(folder) {
  const child = spawn(process.execPath, [setpoint, "pipelines", "start", folder, "--port", "0", "-o", "json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    let text = "";
    const lines = [];
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const parts = text.split("\n");
      text = parts.pop();
      lines.push(...parts.filter(Boolean).map((line) => JSON.parse(line)));
    });
    const until = async (isTrue) => {
      while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await until(() => lines.some(({ type }) => type === "serving"));
    await new Promise((resolve) => setTimeout(resolve, 500));
    lines.length = 0;
    const start = performance.now();
    writeSetpointModel(folder, leaf, 7);
    await until(() => lines.some(({ type, name, error }) => type === "resource" && name === nameOf(leaf) && !error));
    return (performance.now() - start) / 1000;
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}

function dbtRound(bin) {
  return inFolder(async (folder) => {
    writeDbt(folder, MODELS);
    const dbt = (...args) =>
      measured(join(bin, "dbt"), [...args, "--project-dir", folder, "--profiles-dir", folder], {
        cwd: folder,
        env: { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: "false" },
      });
    const database = join(folder, "dbt.duckdb");
    const cold = await dbt("run");
    await check(
      database,
      seen.map(nameOf),
      seen.map((at) => expected(at)),
    );
    const same = await dbt("run");
    await measured("cp", ["-r", join(folder, "target"), join(folder, "state")]);
    writeDbtModel(folder, leaf, 5);
    const edited = await dbt("run", "--select", "state:modified+", "--state", join(folder, "state"));
    await check(database, [nameOf(leaf)], [expected(leaf, 5)]);
    const peakMb = Math.max(cold.peakMb, same.peakMb, edited.peakMb);
    return { cold: cold.seconds, same: same.seconds, leaf: edited.seconds, peakMb };
  });
}

function meshRound(bin) {
  return inFolder(async (folder) => {
    writeSqlmesh(folder, MODELS);
    const mesh = (...args) =>
      measured(join(bin, "sqlmesh"), ["-p", folder, ...args], {
        cwd: folder,
        env: { ...process.env, SQLMESH__DISABLE_ANONYMIZED_ANALYTICS: "true" },
      });
    const database = join(folder, "mesh.duckdb");
    const cold = await mesh("plan", "--auto-apply", "--no-prompts");
    await check(
      database,
      seen.map((at) => `bench.${nameOf(at)}`),
      seen.map((at) => expected(at)),
    );
    const same = await mesh("run");
    writeSqlmeshModel(folder, leaf, 5);
    const edited = await mesh("plan", "--auto-apply", "--no-prompts");
    await check(database, [`bench.${nameOf(leaf)}`], [expected(leaf, 5)]);
    const peakMb = Math.max(cold.peakMb, same.peakMb, edited.peakMb);
    return { cold: cold.seconds, same: same.seconds, leaf: edited.seconds, peakMb };
  });
}

const largeSeen = Array.from({ length: LARGE }, (_, at) => at);

function largeRound() {
  return inFolder(async (folder) => {
    writeSetpoint(folder, LARGE);
    const cold = await command("run", folder, "-o", "json");
    await check(
      join(folder, ".setpoint", "main.duckdb"),
      largeSeen.map(nameOf),
      largeSeen.map((at) => expected(at)),
    );
    return cold;
  });
}

function bareRound() {
  return inFolder(async (folder) => {
    const database = join(folder, "bare.duckdb");
    const cold = await measured(process.execPath, [bare, database, String(LARGE)]);
    await check(
      database,
      largeSeen.map(nameOf),
      largeSeen.map((at) => expected(at)),
    );
    return cold;
  });
}
