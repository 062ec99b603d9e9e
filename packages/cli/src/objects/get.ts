import type { Client } from "setpoint";
import type { CommandContext } from "setpoint/command";
import type { UntypedKind, UntypedObject } from "setpoint/kinds";
import { connectTo, inNamespace, namespaceOf } from "./connection.js";
import { findKind, kindAndNames } from "./find-kind.js";
import { columns, formatted, jsonLine, outputFormat } from "./output.js";
import { readTable, type TableRequest, tableView } from "./server-table.js";
import { followTable } from "./table-follower.js";

/** `setpoint get`: resolves to the exit code. */
export async function runGet(context: CommandContext): Promise<number> {
  const { values, positionals, signal, stdout, stderr } = context;
  if (values.watch) return runWatch(context, false);
  const format = outputFormat(values.output);
  await using client = await connectTo(context);
  const { kind: word, names } = kindAndNames(positionals);
  const kind = await findKind(client, word);
  const namespace = namespaceOf(values, client, kind);
  const labelSelector = values.selector as string | undefined;
  if (format) {
    stdout(formatted(await read(client, kind, names, namespace, labelSelector), format));
    return 0;
  }
  const requests = (names.length > 0 ? names : [undefined]).map(
    (name): TableRequest => ({ kind, namespace, name, labelSelector, signal }),
  );
  const tables = [];
  for (const request of requests) tables.push(await readTable(client, request));
  const view = tableView(tables[0]!.columnDefinitions, kind.scope === "Namespaced" && namespace === undefined);
  const rows = tables.flatMap((table) => table.rows ?? []).map((row) => view.cellsOf(row));
  if (rows.length > 0) stdout(columns(view.headings, rows));
  else stderr(`no ${kind.plural} ${namespace === undefined ? "anywhere" : `in the namespace ${namespace}`}`);
  return 0;
}

/** The named object, otherwise a List as in kubectl. */
async function read(
  client: Client,
  kind: UntypedKind,
  names: readonly string[],
  namespace: string | undefined,
  labelSelector: string | undefined,
): Promise<unknown> {
  if (names.length === 1) return withoutManagedFields(await client.get(kind, names[0]!, inNamespace(namespace)));
  const items: UntypedObject[] = [];
  for (const name of names) items.push(await client.get(kind, name, inNamespace(namespace)));
  if (names.length === 0) {
    const selector = labelSelector ? { labelSelector } : {};
    items.push(...(await client.list(kind, { ...inNamespace(namespace), ...selector })).items);
  }
  const { apiVersion, kind: name } = kind;
  return {
    apiVersion: "v1",
    kind: "List",
    items: items.map((item) => withoutManagedFields({ ...item, apiVersion, kind: name })),
  };
}

/** `setpoint watch`, and `get --watch`, which does not show the type of change. */
export async function runWatch(context: CommandContext, showsEvent = true): Promise<number> {
  const { values, positionals, signal, stdout } = context;
  const format = outputFormat(values.output);
  await using client = await connectTo(context);
  const { kind: word, names } = kindAndNames(positionals);
  const kind = await findKind(client, word);
  const namespace = namespaceOf(values, client, kind);
  const request = { kind, namespace, name: names[0], labelSelector: values.selector as string | undefined, signal };
  const showsNamespace = kind.scope === "Namespaced" && namespace === undefined;
  if (!format) {
    await followTable(context, client, request, { showsNamespace, showsEvent });
    return 0;
  }
  const fieldSelector = request.name === undefined ? {} : { fieldSelector: `metadata.name=${request.name}` };
  const labelSelector = request.labelSelector === undefined ? {} : { labelSelector: request.labelSelector };
  try {
    const options = { ...inNamespace(namespace), ...fieldSelector, ...labelSelector, signal };
    for await (const event of client.watch(kind, options)) {
      if (event.type === "BOOKMARK") continue;
      const shown = { type: event.type, object: withoutManagedFields(event.object) };
      stdout(format === "json" ? jsonLine(shown) : `---\n${formatted(shown, format)}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return 0;
}

/** For people: apiVersion and kind come first, and managedFields are left out. */
export function withoutManagedFields(object: UntypedObject): UntypedObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { managedFields: _, ...shown } = metadata;
  return { apiVersion, kind, metadata: shown, ...rest };
}
