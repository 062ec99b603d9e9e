import type { CommandContext } from "setpoint/command";
import { serve } from "../http/serve.js";
import { openPipelines } from "../runtime/open-pipelines.js";
import type { Pipelines } from "../runtime/pipelines.js";
import { resolve, resolverRequest } from "../runtime/resolver.js";
import { folderOf, pipelinesOptions } from "./arguments.js";
import { isForScript, printProblems, printRows, printValue } from "./printing.js";
import { Progress } from "./progress.js";

const INTERRUPTED = 130;

/** `setpoint pipelines run` */
export async function runRun(context: CommandContext): Promise<number> {
  const { values, stdout, stderr, signal } = context;
  const progress = new Progress(context);
  try {
    await using pipelines = await openPipelines(folderOf(context), {
      ...pipelinesOptions(context),
      onProgress: (name, share) => progress.share(name, share),
    });
    await using _server = await serve(pipelines, { port: 0 });
    using _following = progress.follow(pipelines);
    await untilIdle(pipelines, signal);
    progress.end();
    signal.throwIfAborted();
    const errors = printProblems(context, pipelines.project);
    const summary = pipelines.summary();
    const failures = pipelines.graph.list().filter(({ error }) => error !== undefined);
    for (const { meta, error } of failures) stderr(`error: ${meta.name.kind}/${meta.name.name}: ${error?.message}`);
    const { executed, settled, failed } = summary;
    const counts = `${executed.length} executed, ${settled.length} settled, ${failed.length} failed`;
    if (typeof values.query === "string") {
      stderr(counts);
      const question = resolverRequest({ properties: { sql: values.query } });
      printRows(context, await resolve(pipelines, question, signal));
    } else if (isForScript(context)) printValue(context, summary);
    else stdout(counts);
    return errors > 0 || failed.length > 0 ? 1 : 0;
  } catch (error) {
    progress.end();
    if (!signal.aborted) throw error;
    stderr("interrupted; every table is complete");
    return INTERRUPTED;
  }
}

/** Waits until nothing runs. Then checks the tables once more, because somebody may have changed one meanwhile. */
async function untilIdle(pipelines: Pipelines, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  for (let round = 0; round < 2 && !signal.aborted; round++) {
    await Promise.race([pipelines.waitUntilIdle(), interrupted]);
    if (signal.aborted || (await pipelines.sweep()).length === 0) return;
  }
  await Promise.race([pipelines.waitUntilIdle(), interrupted]);
}
