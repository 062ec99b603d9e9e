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

/** Real MCP servers, built with the official SDK, on loopback. */

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: IncomingMessage[];
  /** Sessions that are open. */
  sessions(): number;
}

export interface McpServerOptions {
  readonly tools: () => readonly { readonly name: string; readonly description?: string }[];
  /** Tools of a page; all in one unless given. */
  readonly pageSize?: number;
  /** Fails the page that begins with this tool. */
  readonly failAt?: number;
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string };
}

function mcpServer({ tools, pageSize, failAt }: McpServerOptions): Server {
  const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, (request) => {
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
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers["mcp-session-id"];
    let transport = typeof id === "string" ? transports.get(id) : undefined;
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (session) => void transports.set(session, transport!),
        onsessionclosed: (session) => void transports.delete(session),
      });
      await mcpServer(options).connect(transport as never);
    }
    await transport.handleRequest(request, response);
  };
  return listen(
    (request, response) => void handle(request, response),
    () => transports.size,
    options.tls,
  );
}

/** HTTP with SSE, as servers had it before. */
export async function startSse(options: McpServerOptions): Promise<RunningServer> {
  const transports = new Map<string, SSEServerTransport>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, "http://x");
    if (request.method === "GET") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      response.on("close", () => transports.delete(transport.sessionId));
      await mcpServer(options).connect(transport);
    } else await transports.get(url.searchParams.get("sessionId")!)?.handlePostMessage(request, response);
  };
  return listen(
    (request, response) => void handle(request, response),
    () => transports.size,
  );
}

/** Any server, for what no SDK would do. */
export async function listen(
  handle: RequestListener,
  sessions: () => number = () => 0,
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
    sessions,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
