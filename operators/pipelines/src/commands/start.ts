import { systemClock } from "setpoint/clock";
import type { CommandContext } from "setpoint/command";
import { describeGraphCause, type GraphResource } from "setpoint/graph";
import { serve } from "../http/serve.js";
import { openPipelines } from "../runtime/open-pipelines.js";
import type { Pipelines } from "../runtime/pipelines.js";
import { problemText } from "../runtime/resource-view.js";
import { folderOf, numberOf, pipelinesOptions } from "./arguments.js";
import { isForScript, printValue } from "./printing.js";

/** `setpoint pipelines start` */
export async function runStart(context: CommandContext): Promise<number> {
  const { signal, values, stdout, env } = context;
  const port = numberOf(context, "port") ?? 0;
  try {
    await using pipelines = await openPipelines(folderOf(context), { ...pipelinesOptions(context), watch: true });
    using _told = tell(context, pipelines);
    await using server = await serve(pipelines, { port, orAnyPort: values.port === "9009" });
    if (isForScript(context)) printValue(context, { type: "serving", url: server.url });
    else stdout(`serving ${server.url} (token in ${pipelines.folder.server})`);
    if (values.kubeconfig === undefined) await ended(pipelines, signal);
    else {
      const { mirrorTo } = await import("../kubernetes/mirror.js");
      await using _mirror = await mirrorTo(pipelines, {
        env,
        kubeconfig: values.kubeconfig as string,
        ...(values.context === undefined ? {} : { context: values.context as string }),
        ...(values.namespace === undefined ? {} : { namespace: values.namespace as string }),
      });
      await ended(pipelines, signal);
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    throw error;
  }
}

/** Resolves on an interrupt. Rejects if the graph had to stop. */
async function ended(pipelines: Pipelines, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const error = await Promise.race([interrupted, pipelines.graph.ended]);
  if (error !== undefined) throw error;
}

/** Prints a line for each change: finished runs, new problems and removed resources. */
function tell(context: CommandContext, pipelines: Pipelines): Disposable {
  const { stdout } = context;
  const say = (line: string, fields: Readonly<Record<string, unknown>>): void => {
    if (isForScript(context)) printValue(context, fields);
    else stdout(`${new Date(systemClock.now()).toISOString().slice(11, 19)} ${line}`);
  };
  const seen = new Map<string, string>();
  const show = (resource: GraphResource): void => {
    const { meta, status, error } = resource;
    if (status === "pending" || status === "running") return;
    const name = `${meta.name.kind}/${meta.name.name}`;
    const state = resource.state as
      | { readonly runId?: string; readonly reason?: string; readonly rows?: number }
      | undefined;
    const what = error ? `failed: ${error.message}` : `fresh ${state?.runId ?? ""}`;
    if (seen.get(name) === what) return;
    seen.set(name, what);
    const causes = pipelines.graph.explain(meta.name)?.lastRun?.causes.map(describeGraphCause) ?? [];
    const rows = state?.rows === undefined ? "" : `, ${state.rows} rows`;
    const why = state?.reason ?? causes.join(", ");
    say(error ? `${name} ${what}` : `${name} is fresh${rows}${why === "" ? "" : ` (${why})`}`, {
      type: "resource",
      kind: meta.name.kind,
      name: meta.name.name,
      ...(error ? { error: error.message } : {}),
      ...(state?.rows === undefined ? {} : { rows: state.rows }),
      causes,
    });
  };
  const problems = new Set<string>();
  const showProblems = (): void => {
    const now = new Set(pipelines.project.problems.map((problem) => `${problem.severity}: ${problemText(problem)}`));
    for (const line of now) if (!problems.has(line)) say(line, { type: "problem", message: line });
    problems.clear();
    for (const line of now) problems.add(line);
  };
  showProblems();
  for (const { path, kind } of pipelines.project.unrun) {
    say(`${path}: files of kind ${kind} are not supported yet`, { type: "unrun", path, kind });
  }
  const projects = pipelines.onProject(showProblems);
  const events = pipelines.graph.subscribe((event) => {
    if (event.type === "changed") return show(event.resource);
    seen.delete(`${event.name.kind}/${event.name.name}`);
    say(`${event.name.kind}/${event.name.name} is gone`, { type: "removed", ...event.name });
  });
  return {
    [Symbol.dispose]: () => {
      projects[Symbol.dispose]();
      events[Symbol.dispose]();
    },
  };
}
