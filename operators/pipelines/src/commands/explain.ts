import { type CommandContext, UsageError } from "setpoint/command";
import { PipelinesError } from "../errors.js";
import { Keeper } from "../http/keeper.js";
import { planFolder } from "../runtime/plan-folder.js";
import { type ExplanationView, problemText, storedExplanation, withCause } from "../runtime/resource-view.js";
import { type StateFolder, stateFolder } from "../runtime/state-folder.js";
import { folderAndNames, pipelinesOptions } from "./arguments.js";
import { durationText, isForScript, printValue } from "./printing.js";

/** `setpoint pipelines explain` */
export async function runExplain(context: CommandContext): Promise<number> {
  const { folder, names } = folderAndNames(context);
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) throw new UsageError("name a resource: explain [DIR] RESOURCE");
  const place = stateFolder(folder, pipelinesOptions(context).schema);
  const keeper = Keeper.of(place);
  const path = name.split("/").map(encodeURIComponent).join("/");
  const explanation = keeper
    ? ((await keeper.get(`explain/${path}`, context.signal)) as ExplanationView)
    : await explainClosed(context, place, name);
  if (isForScript(context)) printValue(context, explanation);
  else print(context, explanation);
  return 0;
}

/** Explains a resource while no process runs on the folder: what the last process left, and what a run would do. */
async function explainClosed(context: CommandContext, place: StateFolder, text: string): Promise<ExplanationView> {
  const { project, existing, plan } = await planFolder(place, pipelinesOptions(context));
  const name = text.split("/").at(-1)!.toLowerCase();
  const kind = text.includes("/") ? text.split("/")[0]!.toLowerCase() : undefined;
  const isMeant = (one: { readonly kind: string; readonly name: string }): boolean =>
    one.name.toLowerCase() === name && (kind === undefined || one.kind.toLowerCase() === kind);
  const broken = project.broken.find((one) => isMeant(one.name));
  const planned = plan.find(isMeant);
  const stored = existing.find(({ meta }) => isMeant(meta.name));
  if (!broken && !planned) throw new PipelinesError("PIPELINES_RESOURCE_UNKNOWN", `no file declares ${text}`);
  if (broken) {
    const reason = `its file has an error, so it stays unchanged: ${problemText(broken.problem)}`;
    return storedExplanation(broken.name, stored, reason);
  }
  const { action, reason } = planned!;
  const said = action === "none" ? withCause(reason, stored?.state) : `a run would ${action} it: ${reason}`;
  return storedExplanation(planned!, stored, said);
}

function print({ stdout }: CommandContext, view: ExplanationView): void {
  stdout(`${view.kind}/${view.name} is ${view.status}: ${view.reason}`);
  if (view.error !== undefined) stdout(`error: ${view.error}`);
  if (view.causes.length > 0) stdout(`causes: ${view.causes.join(", ")}`);
  if (view.builtOn !== undefined) {
    const took = view.durationMs === undefined ? "" : ` in ${durationText(view.durationMs)}`;
    const rows = view.rows === undefined ? "" : `, ${view.rows} rows`;
    stdout(`built on ${new Date(view.builtOn).toISOString()}${took}${rows}`);
  }
  for (const { kind, name } of view.failedRefs) stdout(`fails because of ${kind}/${name}`);
}
