import { systemRandom } from "setpoint/clock";
import { type CommandContext, UsageError } from "setpoint/command";
import { Keeper } from "../http/keeper.js";
import { serve } from "../http/serve.js";
import { openPipelines } from "../runtime/open-pipelines.js";
import { type Refreshed, type RefreshOrder, refresh } from "../runtime/refresh.js";
import { stateFolder } from "../runtime/state-folder.js";
import { folderAndNames, pipelinesOptions } from "./arguments.js";
import { isForScript, printValue } from "./printing.js";

/** `setpoint pipelines refresh` */
export async function runRefresh(context: CommandContext): Promise<number> {
  const { values, signal, stdout, stderr } = context;
  const { folder, names } = folderAndNames(context);
  const partitions = (values.partition ?? []) as readonly string[];
  if (values.full && partitions.length > 0) throw new UsageError("--full and --partition exclude each other");
  const order: RefreshOrder = {
    names,
    full: values.full === true,
    partitions,
    ...(values.from === undefined ? {} : { from: values.from as string }),
    ...(values.to === undefined ? {} : { to: values.to as string }),
    preview: values.preview === true,
  };
  const refreshed = await ordered(context, folder, order, signal);
  if (isForScript(context)) printValue(context, refreshed);
  for (const { kind, name, partitions: meant, error } of refreshed) {
    const what = meant === undefined ? "" : `: ${meant.length} partitions`;
    if (!isForScript(context)) stdout(`${kind}/${name}${what}${order.preview ? " would be refreshed" : ""}`);
    if (!isForScript(context) && order.preview) for (const values of meant ?? []) stdout(`  ${JSON.stringify(values)}`);
    if (error !== undefined) stderr(`error: ${kind}/${name}: ${error}`);
  }
  return refreshed.some(({ error }) => error !== undefined) ? 1 : 0;
}

async function ordered(
  context: CommandContext,
  folder: string,
  order: RefreshOrder,
  signal: AbortSignal,
): Promise<readonly Refreshed[]> {
  const options = pipelinesOptions(context);
  const keeper = Keeper.of(stateFolder(folder, options.schema));
  if (keeper) return (await keeper.post("refresh", order, signal)) as readonly Refreshed[];
  await using pipelines = await openPipelines(folder, options);
  await using _server = await serve(pipelines, { port: 0 });
  const refreshed = await refresh(pipelines, order, systemRandom);
  await pipelines.waitUntilIdle();
  return refreshed;
}
