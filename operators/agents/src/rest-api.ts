import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Client, connect } from "setpoint";
import { type OptionValues, UsageError } from "setpoint/command";
import { TokenReview } from "setpoint/kinds/authentication.k8s.io/v1";
import { SubjectAccessReview } from "setpoint/kinds/authorization.k8s.io/v1";
import { parseAddress } from "setpoint/manager";
import type { Store } from "./database/store.js";

/** Decides who may read. Gives the HTTP status of the refusal, or undefined for those who may. */
export type Guard = (request: IncomingMessage, path: string) => Promise<401 | 403 | undefined>;

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/** kagent's REST API as far as it reads what the operator knows. Every replica answers, whoever leads. */
export async function answerApi(store: Store, path: string): Promise<unknown> {
  switch (path) {
    case "/api/agents":
      return (await store.agents()).map(({ id, type, config }) => ({
        id,
        type,
        config: JSON.parse(config) as unknown,
      }));
    case "/api/tools":
      return (await store.tools()).map(({ name, server, groupKind, description }) => ({
        id: name,
        server_name: server,
        group_kind: groupKind,
        description,
      }));
    case "/api/toolservers": {
      const [servers, tools] = [await store.servers(), await store.tools()];
      return servers.map(({ name, groupKind, description, lastConnected }) => ({
        ref: name,
        groupKind,
        description,
        lastConnected,
        discoveredTools: tools
          .filter((tool) => tool.server === name && tool.groupKind === groupKind)
          .map((tool) => ({ name: tool.name, description: tool.description })),
      }));
    }
    default:
      return undefined;
  }
}

/** Serves the API until disposed. */
export async function startApi(
  store: Store,
  host: string,
  port: number,
  guard: Guard,
): Promise<AsyncDisposable & { readonly url: string }> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    try {
      const { pathname } = new URL(request.url ?? "/", "http://api");
      const refused = await guard(request, pathname);
      if (refused) return send(refused, { error: true, message: refused === 401 ? "who are you?" : "you may not" });
      if (request.method !== "GET")
        return send(405, { error: true, message: "only reading is possible: change the objects" });
      const data = await answerApi(store, pathname.replace(/\/$/, ""));
      if (data === undefined) return send(404, { error: true, message: `no such path: ${pathname}` });
      send(200, { error: false, data, message: "" });
    } catch {
      send(500, { error: true, message: "the database could not be read" });
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const address = server.address() as { readonly port: number };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listenAddress(address: string): { readonly host: string; readonly port: number } {
  try {
    return parseAddress(address)!;
  } catch (cause) {
    throw new UsageError(`--api-bind-address: ${(cause as Error).message}`, { cause });
  }
}

/** Callers on this machine may read; others by what the cluster says of their token. */
export async function serveApi(
  store: Store,
  address: string,
  values: OptionValues,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (address === "0") return;
  const { host, port } = listenAddress(address);
  const isLocal = LOOPBACK.has(host);
  const kubeconfig = typeof values.kubeconfig === "string" ? { kubeconfig: values.kubeconfig } : {};
  const guard = isLocal ? fromThisMachine : reviewed(await connect({ env, ...kubeconfig }));
  await startApi(store, host === "" ? "::" : host, port, guard);
}

/** A page in a browser is on this machine too, and must not read: it names another host. */
export const fromThisMachine: Guard = async ({ headers, socket }) => {
  const isHere = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
  const named = (headers.host ?? "").replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  return isHere && LOOPBACK.has(named) ? undefined : 403;
};

/** The API server says whose the token is, and whether they may get the path. Nothing is remembered. */
export function reviewed(client: Client): Guard {
  return async ({ headers }, path) => {
    const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (token === undefined) return 401;
    const { status } = await client.create(TokenReview, { metadata: {}, spec: { token } } as never);
    const user = status?.authenticated ? status.user : undefined;
    if (!user) return 401;
    const review = await client.create(SubjectAccessReview, {
      metadata: {},
      spec: { user: user.username, groups: user.groups, nonResourceAttributes: { path, verb: "get" } },
    } as never);
    return review.status?.allowed ? undefined : 403;
  };
}
