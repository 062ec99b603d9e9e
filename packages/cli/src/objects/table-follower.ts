import type { Client } from "setpoint";
import { isExpired } from "setpoint/client";
import type { CommandContext } from "setpoint/command";
import { padded, widthsOf } from "./output.js";
import { readTable, type TableRequest, tableView, watchTable } from "./server-table.js";

/**
 * Prints a table, then a row for each change, until the signal. Resumes a watch that the server ends; if its
 * resourceVersion has expired, lists again.
 */
export async function followTable(
  context: CommandContext,
  client: Client,
  request: TableRequest,
  options: { readonly showsNamespace: boolean; readonly showsEvent: boolean },
): Promise<void> {
  for (let isFirst = true; !context.signal.aborted; isFirst = false) {
    try {
      await followOnce(context, client, request, { ...options, isFirst });
    } catch (error) {
      if (context.signal.aborted) return;
      if (!isExpired(error)) throw error;
    }
  }
}

async function followOnce(
  { stdout, signal }: CommandContext,
  client: Client,
  request: TableRequest,
  options: { readonly showsNamespace: boolean; readonly showsEvent: boolean; readonly isFirst: boolean },
): Promise<void> {
  const table = await readTable(client, { ...request, name: undefined, labelSelector: request.labelSelector });
  const view = tableView(table.columnDefinitions, options.showsNamespace);
  const nameAt = options.showsNamespace ? 1 : 0;
  const event = (type: string): string[] => (options.showsEvent ? [type] : []);
  const headings = [...event("EVENT"), ...view.headings.map((heading) => heading.toUpperCase())];
  const rows = (table.rows ?? [])
    .map((row) => view.cellsOf(row))
    .filter((cells) => request.name === undefined || cells[nameAt] === request.name)
    .map((cells) => [...event("ADDED"), ...cells]);
  const widths = widthsOf([headings, ...rows, ...(options.showsEvent ? [["MODIFIED"]] : [])]);
  if (options.isFirst) stdout(padded(headings, widths));
  for (const row of rows) stdout(padded(row, widths));
  let from = table.metadata.resourceVersion ?? "0";
  while (!signal.aborted) {
    for await (const change of watchTable(client, request, from)) {
      for (const row of change.object.rows ?? []) {
        from = row.object.metadata.resourceVersion;
        if (change.type === "BOOKMARK") continue;
        stdout(padded([...event(change.type), ...view.cellsOf(row)], widths));
      }
    }
  }
}
