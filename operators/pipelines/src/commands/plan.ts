import type { CommandContext } from "setpoint/command";
import { Keeper } from "../http/keeper.js";
import type { PlannedAction } from "../runtime/plan.js";
import { planFolder } from "../runtime/plan-folder.js";
import { stateFolder } from "../runtime/state-folder.js";
import { folderOf, pipelinesOptions } from "./arguments.js";
import { durationText, isForScript, printProblems, printValue, table } from "./printing.js";

/** `setpoint pipelines plan` */
export async function runPlan(context: CommandContext): Promise<number> {
  const options = pipelinesOptions(context);
  const place = stateFolder(folderOf(context), options.schema);
  const keeper = Keeper.of(place);
  if (keeper) {
    print(context, (await keeper.get("plan", context.signal)) as readonly PlannedAction[]);
    return 0;
  }
  const { project, plan } = await planFolder(place, options);
  print(
    context,
    plan.filter(({ action }) => action !== "none"),
  );
  return printProblems(context, project) > 0 ? 1 : 0;
}

function print(context: CommandContext, plan: readonly PlannedAction[]): void {
  if (isForScript(context)) {
    printValue(context, plan);
    return;
  }
  if (plan.length === 0) {
    context.stdout("nothing would run");
    return;
  }
  const rows = plan.map(({ kind, name, action, reason, durationMs, rows: count }) => [
    action,
    `${kind}/${name}`,
    durationMs === undefined ? "" : durationText(durationMs),
    count ?? "",
    reason,
  ]);
  context.stdout(table(["ACTION", "RESOURCE", "LAST TOOK", "LAST ROWS", "REASON"], rows));
}
