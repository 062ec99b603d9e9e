import type { CommandContext } from "setpoint/command";
import { UsageError } from "setpoint/command";
import type { RunRecord } from "setpoint/controller";
import type { LoopStatus } from "setpoint/manager";
import { connectTo } from "../objects/connection.js";
import { kindAndName } from "../objects/find-kind.js";
import { formatted, jsonLine, outputFormat } from "../objects/output.js";
import { visible } from "../visible.js";
import { nothingKnown } from "./nothing-known.js";
import { nowText, runText } from "./run-text.js";
import { localSource, podSources, type TimelineSource, urlSource } from "./timeline-source.js";

/** `setpoint why`: resolves to the exit code. */
export async function runWhy(context: CommandContext): Promise<number> {
  const { values, positionals, stdout, stderr, signal } = context;
  const format = outputFormat(values.output);
  const last = Number(values.last);
  if (!Number.isInteger(last) || last < 1) throw new UsageError(`--last ${String(values.last)}: expected 1 or more`);
  const { kind, name } = kindAndName(positionals);
  const keys = [name, `${(values.namespace as string | undefined) ?? "default"}/${name}`];
  await using found = await sourcesFor(context);
  const { sources } = found;
  const loops = await Promise.all(sources.map(async (source) => ({ source, loops: await source.loops(signal) })));
  const meant = new Set(
    loops.flatMap((each) => each.loops.filter((loop) => isKind(loop, kind)).map((loop) => loop.kind)),
  );
  const isMeant = (run: RunRecord): boolean => keys.includes(run.key) && meant.has(run.kind);
  const known: { source: TimelineSource; runs: readonly RunRecord[] }[] = [];
  for (const source of sources) {
    const runs = (await Promise.all(keys.map((key) => source.runs(key, signal)))).flat().filter(isMeant);
    if (runs.length > 0) known.push({ source, runs });
  }
  if (!values.follow) {
    const shown = known.map(({ source, runs }) => summaries(source, runs, last));
    if (format) stdout(formatted(shown.flat(), format));
    else for (const each of shown) stdout(each.map(summaryText).join("\n\n"));
    if (known.length > 0) return 0;
    stderr(nothingKnown(loops, (loop) => isKind(loop, kind), kind, keys));
    return 1;
  }
  await Promise.all(sources.map((source) => follow(context, source, isMeant, format)));
  return 0;
}

interface Summary {
  readonly process: string;
  readonly controller: string;
  readonly kind: string;
  readonly key: string;
  readonly runs: readonly RunRecord[];
  /** What the object waits for. */
  readonly now: string;
}

/** One for each controller that ran. */
function summaries({ name }: TimelineSource, runs: readonly RunRecord[], last: number): readonly Summary[] {
  return [...new Set(runs.map(({ controller }) => controller))].map((controller) => {
    const own = runs.filter((run) => run.controller === controller);
    const newest = own.at(-1)!;
    const { kind, key } = newest;
    return { process: name, controller, kind, key, runs: own.slice(-last), now: nowText(newest) };
  });
}

function summaryText({ process, controller, kind, key, runs, now }: Summary): string {
  return [visible(`${kind} ${key}: ${controller} in ${process}`), "", ...runs.map(runText), "", `Now: ${now}.`].join(
    "\n",
  );
}

async function follow(
  { stdout, signal }: CommandContext,
  source: TimelineSource,
  isMeant: (run: RunRecord) => boolean,
  format: "json" | "yaml" | undefined,
): Promise<void> {
  try {
    for await (const run of source.follow(signal)) {
      if (!isMeant(run)) continue;
      if (format === "json") stdout(jsonLine(run));
      else stdout(format === "yaml" ? `---\n${formatted(run, "yaml")}` : runText(run));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function sourcesFor(
  context: CommandContext,
): Promise<AsyncDisposable & { readonly sources: readonly TimelineSource[] }> {
  const { kubeconfig, context: name, pod, workload, url } = context.values;
  if (typeof url === "string") return { sources: [urlSource(url)], [Symbol.asyncDispose]: async () => {} };
  const isRemote = [kubeconfig, name, pod, workload].some((value) => value !== undefined);
  const local = isRemote ? undefined : localSource(context);
  if (local) return { sources: [local], [Symbol.asyncDispose]: async () => {} };
  const client = await connectTo(context);
  return { sources: await podSources(client, context), [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

/** `v1/Namespace` is meant by namespace, namespaces, Namespace, ns, and with its group: `deployment.apps`. */
function isKind({ kind: id, plural, shortNames }: LoopStatus, word: string): boolean {
  const parts = id.split("/");
  const kind = parts.at(-1)!;
  const group = parts.length > 2 ? parts[0]! : "";
  const [name = "", ...rest] = word.toLowerCase().split(".");
  const names = [kind.toLowerCase(), plural, ...shortNames, ...(SHORT_NAMES.get(kind) ?? [])];
  return names.includes(name) && (rest.length === 0 || rest.join(".") === group);
}

const SHORT_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["Namespace", ["ns"]],
  ["Deployment", ["deploy"]],
  ["StatefulSet", ["sts"]],
  ["DaemonSet", ["ds"]],
  ["ConfigMap", ["cm"]],
  ["Service", ["svc"]],
  ["Pod", ["po"]],
]);
