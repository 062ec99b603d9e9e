import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemRandom } from "setpoint/clock";
import { allCases } from "./areas.js";
import type { Case } from "./case.js";
import { compareTranscripts, type Difference } from "./compare.js";
import type { Step } from "./normalise.js";
import { judge, type KnownDifference, table } from "./report.js";
import { runCases, type Transcripts, titleOf } from "./runner.js";
import { runningReal, startOurs, startReal } from "./targets.js";
import { Wire } from "./wire.js";

const HELP = `Runs the conformance suite on a real kube-apiserver and on the embedded control plane and compares the answers.

  npm run conformance                          all of it
  npm run conformance -- --only apply          the cases whose "area: name" contains a text, or one of several
  npm run conformance -- --record FILE         also keeps the real server's transcripts
  npm run conformance -- --against FILE        compares with kept transcripts instead of starting a real server
  npm run conformance -- --real KUBECONFIG     takes a real server that is running already, with its controllers
  npm run conformance -- --bin FILE            takes another build of the control plane
  npm run conformance -- --patience SECONDS    how long a case waits for what controllers do; 150 unless told
  npm run conformance -- --seed N [--seed M]   random cases with these seeds instead of new ones
  npm run conformance -- --accept              lists the cases that differ now as gaps in differences.json
  npm run conformance -- --self                compares two runs of the real server: finds cases that do not repeat
`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    record: { type: "string" },
    against: { type: "string" },
    real: { type: "string" },
    bin: { type: "string" },
    patience: { type: "string", default: "150" },
    seed: { type: "string", multiple: true },
    self: { type: "boolean" },
    accept: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});

/**
 * How often the real server is asked again if its response differs from ours. Its admission and its controllers use
 * caches, so that its response may vary. Ours is asked once: its response must be one that the real server gives, too.
 */
const REPEATS = 3;

const patienceMs = Number(options.patience) * 1000;
const folder = join(dirname(fileURLToPath(import.meta.url)), "..");

async function realTranscripts(cases: readonly Case[]): Promise<Transcripts> {
  if (options.against) return new Map(JSON.parse(readFileSync(options.against, "utf8")) as [string, readonly Step[]][]);
  await using target = await (options.real ? runningReal(options.real) : startReal());
  using wire = new Wire(target.endpoint);
  const salt = options.real ? String(systemRandom.next()) : "";
  return await runCases(cases, wire, { concurrency: 16, patienceMs, salt });
}

async function ourTranscripts(cases: readonly Case[]): Promise<Transcripts> {
  await using target = await (options.self ? startReal() : startOurs(options.bin));
  using wire = new Wire(target.endpoint);
  return await runCases(cases, wire, { concurrency: 8, patienceMs });
}

const differenceOf = (each: Case, ours: Transcripts, theirs: Transcripts): readonly Difference[] => {
  const title = titleOf(each);
  return compareTranscripts(title, ours.get(title) ?? [], theirs.get(title) ?? []);
};

/** The real server's responses: if they vary, the one that equals ours. */
async function answersOf(cases: readonly Case[], ours: Transcripts, first: Transcripts): Promise<Transcripts> {
  const answers = new Map(first);
  if (options.against || options.self) return answers;
  let differing = cases.filter((each) => differenceOf(each, ours, answers).length > 0);
  for (let repeat = 1; repeat <= REPEATS && differing.length > 0; repeat++) {
    const again = await realTranscripts(differing);
    const steadied = differing.filter((each) => differenceOf(each, ours, again).length === 0);
    for (const title of steadied.map(titleOf)) {
      answers.set(title, again.get(title) ?? []);
      console.log(`the real server answers now this way, now that; ours is its answer number ${repeat + 1}: ${title}`);
    }
    differing = differing.filter((each) => !steadied.includes(each));
  }
  return answers;
}

function record(file: string, transcripts: Transcripts): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify([...transcripts]));
}

async function main(): Promise<number> {
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const seeds = options.against
    ? []
    : (options.seed?.map(Number) ?? [1, 2, 3, 4].map(() => Math.floor(systemRandom.next() * 2 ** 31)));
  console.log(`seeds: ${seeds.join(" ") || "the fixed ones alone"}`);
  const cases = allCases(seeds).filter((each) => (options.only ?? [""]).some((text) => titleOf(each).includes(text)));
  const first = await realTranscripts(cases);
  const ours = await ourTranscripts(cases);
  const theirs = await answersOf(cases, ours, first);
  if (options.record) record(options.record, theirs);
  const differences = cases.flatMap((each) => differenceOf(each, ours, theirs));
  const list = JSON.parse(readFileSync(join(folder, "differences.json"), "utf8")) as KnownDifference[];
  const inScope = list.filter((entry) => cases.some((each) => titleOf(each).startsWith(entry.case)));
  if (options.accept) {
    const others = list.filter((entry) => entry.reason !== "gap" || entry.sometimes);
    const open = judge(differences, others).unexpected;
    const gaps = [...new Set(open.map((each) => each.case))].map((title) => ({ case: title, at: "", reason: "gap" }));
    writeFileSync(join(folder, "differences.json"), `${JSON.stringify([...others, ...gaps], null, 2)}\n`);
    console.log(`${gaps.length} gaps listed`);
    return 0;
  }
  const verdict = judge(differences, inScope);
  for (const each of verdict.unexpected) {
    console.log(`${each.case}\n  ${each.at}\n    ours:   ${show(each.ours)}\n    theirs: ${show(each.theirs)}`);
  }
  for (const entry of verdict.stale)
    console.log(`no longer differs, remove it from differences.json: ${entry.case} ${entry.at}`);
  console.log(table(cases, verdict));
  const failing = new Set(verdict.unexpected.map((each) => each.case)).size;
  console.log(`${cases.length - failing} passed, ${failing + verdict.stale.length} failed`);
  return failing + verdict.stale.length === 0 ? 0 : 1;
}

const show = (value: unknown): string => (JSON.stringify(value) ?? "(nothing)").slice(0, 600);

process.exitCode = await main();
