import { type CommandContext, UsageError } from "../command.js";
import { printDocuments } from "./documents.js";
import { loadDeclarations } from "./module-file.js";

/** `setpoint crds`: resolves to the exit code. */
export async function runCrds(context: CommandContext): Promise<number> {
  const { positionals } = context;
  if (positionals.length === 0) throw new UsageError("which module? Say: setpoint crds FILE.ts");
  const byName = new Map<string, object>();
  for (const path of positionals) {
    const { resources } = await loadDeclarations(path);
    if (resources.length === 0) throw new UsageError(`${path} declares no kind with resource(…)`);
    for (const resource of resources) {
      const crd = resource.crd();
      byName.set(crd.metadata.name, crd);
    }
  }
  printDocuments(context, [...byName.values()]);
  return 0;
}
