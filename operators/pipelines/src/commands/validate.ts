import type { CommandContext } from "setpoint/command";
import { readProject } from "../runtime/open-pipelines.js";
import { folderOf, pipelinesOptions } from "./arguments.js";
import { isForScript, printProblems, printValue } from "./printing.js";

/** `setpoint pipelines validate` */
export async function runValidate(context: CommandContext): Promise<number> {
  const project = await readProject(folderOf(context), pipelinesOptions(context));
  const { problems, resources, unrun } = project;
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (isForScript(context)) {
    printValue(context, { problems, resources: resources.map(({ name }) => name), unrun });
    return errors > 0 ? 1 : 0;
  }
  printProblems(context, project);
  for (const { path, kind } of unrun) context.stderr(`note: ${path}: files of kind ${kind} are not supported yet`);
  context.stdout(`${resources.length} resources, ${errors} errors, ${problems.length - errors} warnings`);
  return errors > 0 ? 1 : 0;
}
