import type { Client } from "setpoint";
import { ApiError, lines, readJson, type Status } from "setpoint/client";
import type { UntypedKind } from "setpoint/kinds";
import { visible } from "../visible.js";
import { inNamespace } from "./connection.js";

/** The server's table of a collection, as kubectl shows it. */
export interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly TableRow[] | null;
  readonly metadata: { readonly resourceVersion?: string };
}

interface TableRow {
  readonly cells: readonly unknown[];
  readonly object: { readonly metadata: { readonly namespace?: string; readonly resourceVersion: string } };
}

export interface TableRequest {
  readonly kind: UntypedKind;
  /** Undefined for all, and for kinds that have none. */
  readonly namespace: string | undefined;
  readonly name?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly signal: AbortSignal;
}

export interface TableEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: Table;
}

const ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** A table of one object, or of those that the request selects. Rejects with an `ApiError`. */
export async function readTable(client: Client, request: TableRequest): Promise<Table> {
  const { kind, namespace, name, labelSelector } = request;
  const query = new URLSearchParams(labelSelector && name === undefined ? { labelSelector } : {});
  return (await send(client, pathOf(kind, namespace, name), query, request.signal, async (sent, response) =>
    readJson(sent, response),
  )) as Table;
}

/** Changes as rows of tables, from a revision on, until the server ends the watch. */
export async function* watchTable(client: Client, request: TableRequest, from: string): AsyncIterable<TableEvent> {
  const { kind, namespace, name, labelSelector, signal } = request;
  const query = new URLSearchParams({ watch: "true", resourceVersion: from, allowWatchBookmarks: "true" });
  if (labelSelector) query.set("labelSelector", labelSelector);
  if (name !== undefined) query.set("fieldSelector", `metadata.name=${name}`);
  const path = pathOf(kind, namespace, undefined);
  const body = await send(client, path, query, signal, async (_, response) => response.body);
  for await (const line of lines(body)) {
    const event = JSON.parse(line.toString("utf8")) as TableEvent;
    if (event.type === "ERROR") throw apiError({ method: "GET", path }, event.object as unknown as Status);
    yield event;
  }
}

/** What people see of a table: headings, and how a row becomes cells. */
export function tableView(
  definitions: Table["columnDefinitions"],
  showsNamespace: boolean,
): { readonly headings: readonly string[]; cellsOf(row: TableRow): readonly string[] } {
  const shown = definitions.map(({ name, priority }, at) => ({ name, priority, at })).filter((each) => !each.priority);
  return {
    headings: [...(showsNamespace ? ["namespace"] : []), ...shown.map(({ name }) => visible(name))],
    cellsOf: ({ cells, object }) => [
      ...(showsNamespace ? [visible(object.metadata.namespace ?? "")] : []),
      ...shown.map(({ at }) => visible(String(cells[at] ?? "<none>"))),
    ],
  };
}

type Response = Awaited<ReturnType<Client["raw"]>>;
type Sent = { readonly method: "GET"; readonly path: string };

async function send<T>(
  client: Client,
  path: string,
  query: URLSearchParams,
  signal: AbortSignal,
  read: (sent: Sent, response: Response) => Promise<T>,
): Promise<T> {
  const search = query.size > 0 ? `?${query}` : "";
  const sent: Sent = { method: "GET", path: `${path}${search}` };
  const response = await client.raw({ ...sent, headers: { accept: ACCEPT }, signal });
  if (response.status >= 300) throw apiError({ ...sent, path }, (await readJson(sent, response)) as Status);
  return read(sent, response);
}

function apiError(request: { method: string; path: string }, body: Status): ApiError {
  return new ApiError({ request, status: body.code ?? 500, body });
}

function pathOf(kind: UntypedKind, namespace: string | undefined, name: string | undefined): string {
  const prefix = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.apiVersion}`;
  const scope = Object.entries(inNamespace(namespace)).flatMap(([, value]) => ["namespaces", value]);
  return [prefix, ...scope, kind.plural, ...(name === undefined ? [] : [encodeURIComponent(name)])].join("/");
}
