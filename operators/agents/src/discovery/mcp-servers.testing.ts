import { randomUUID } from "node:crypto";
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { systemClock } from "setpoint/clock";

/** Real MCP servers, built with the official SDK, on loopback. */

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: IncomingMessage[];
  /** The number of open sessions. */
  sessions(): number;
  /** Notifies every session that the tools changed. */
  tellChanged(): Promise<void>;
}

export interface McpServerOptions {
  readonly tools: () => readonly { readonly name: string; readonly description?: string }[];
  /** Tools per page; one page by default. */
  readonly pageSize?: number;
  /** Fails the page that begins with this tool. */
  readonly failAt?: number;
  /** Announces that it notifies of changes. */
  readonly announces?: boolean;
  /** The delay of each page. */
  readonly delayMs?: number;
  /** While this returns false, every request is answered with status 503. */
  readonly isUp?: () => boolean;
  /** Redirects requests for one path to another. */
  readonly redirects?: { readonly from: string; readonly to: string };
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string };
}

function mcpServer({ tools, pageSize, failAt, announces, delayMs }: McpServerOptions): Server {
  const capabilities = { tools: announces ? { listChanged: true } : {} };
  const server = new Server({ name: "test", version: "1" }, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, async (request) => {
    if (delayMs !== undefined) await systemClock.sleep(delayMs);
    const all = tools().map((tool) => ({ inputSchema: { type: "object" as const }, ...tool }));
    const from = Number(request.params?.cursor ?? 0);
    if (failAt === from && from > 0) throw new Error("page lost");
    const size = pageSize ?? all.length;
    const next = from + size < all.length ? { nextCursor: String(from + size) } : {};
    return { tools: all.slice(from, from + size), ...next };
  });
  return server;
}

/** Streamable HTTP with sessions. */
export async function startStreamable(options: McpServerOptions): Promise<RunningServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const servers = new Map<string, Server>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (options.isUp?.() === false) {
      request.resume();
      return void response.writeHead(503).end();
    }
    if (options.redirects?.from === request.url) {
      request.resume();
      return void response.writeHead(307, { location: options.redirects!.to }).end();
    }
    const id = request.headers["mcp-session-id"];
    let transport = typeof id === "string" ? transports.get(id) : undefined;
    if (!transport) {
      const server = mcpServer(options);
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (session) => {
          transports.set(session, transport!);
          servers.set(session, server);
        },
        onsessionclosed: (session) => {
          transports.delete(session);
          servers.delete(session);
        },
      });
      await server.connect(transport as never);
    }
    await transport.handleRequest(request, response);
  };
  return listen(
    (request, response) => void handle(request, response),
    () => servers,
    options.tls,
  );
}

/** HTTP with SSE, the older transport. */
export async function startSse(options: McpServerOptions): Promise<RunningServer> {
  const transports = new Map<string, SSEServerTransport>();
  const servers = new Map<string, Server>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, "http://x");
    if (request.method === "GET") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      const server = mcpServer(options);
      servers.set(transport.sessionId, server);
      response.on("close", () => {
        transports.delete(transport.sessionId);
        servers.delete(transport.sessionId);
      });
      await server.connect(transport);
    } else await transports.get(url.searchParams.get("sessionId")!)?.handlePostMessage(request, response);
  };
  return listen(
    (request, response) => void handle(request, response),
    () => servers,
  );
}

/** Any server, for behaviour that no SDK has. */
export async function listen(
  handle: RequestListener,
  servers: () => ReadonlyMap<string, Server> = () => new Map(),
  tls?: McpServerOptions["tls"],
): Promise<RunningServer> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    handle(request, response);
  };
  const server: HttpServer = tls
    ? createSecureServer({ ...tls, ...(tls.ca ? { requestCert: true, rejectUnauthorized: true } : {}) }, listener)
    : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}/mcp`,
    requests,
    sessions: () => servers().size,
    async tellChanged() {
      await Promise.all([...servers().values()].map((each) => each.sendToolListChanged()));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
