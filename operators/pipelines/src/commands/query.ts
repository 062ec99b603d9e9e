import { existsSync } from "node:fs";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import type { QueryResult } from "../engine/engine.js";
import { Keeper } from "../http/keeper.js";
import { openTables } from "../runtime/open-pipelines.js";
import { resolve, resolverRequest } from "../runtime/resolver.js";
import { stateFolder } from "../runtime/state-folder.js";
import { folderOf, jsonOf, numberOf, pipelinesOptions } from "./arguments.js";
import { printRows } from "./printing.js";

/** `setpoint pipelines query` */
export async function runQuery(context: CommandContext): Promise<number> {
  const { values, signal } = context;
  const options = pipelinesOptions(context);
  const folder = stateFolder(folderOf(context), options.schema);
  const properties = values.sql === undefined ? jsonOf(context, "properties") : { sql: values.sql };
  if (properties === undefined) throw new UsageError("--sql SQL or --properties JSON is required");
  const limit = numberOf(context, "limit");
  const request = resolverRequest({
    resolver: values.resolver,
    properties,
    ...(values.user === undefined ? {} : { user: jsonOf(context, "user") }),
    ...(limit === undefined ? {} : { limit }),
  });
  const keeper = Keeper.of(folder);
  if (keeper) {
    printRows(context, (await keeper.post("query", request, signal)) as QueryResult);
    return 0;
  }
  if (!existsSync(folder.path))
    throw new CommandError(`${folder.project}: no tables yet; build them with: setpoint pipelines run`);
  await using tables = await openTables(folder, options);
  printRows(context, await resolve(tables, request, signal));
  return 0;
}
