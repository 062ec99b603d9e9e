import type { Tool } from "../database/store.js";
import { AgentsError } from "../errors.js";
import { EventStreamReader } from "./event-stream.js";
import { connectionError, exchange, type HttpAnswer, type HttpTarget } from "./http-exchange.js";

/**
 * A client of the Model Context Protocol that only lists tools. It supports Streamable HTTP and the older HTTP with
 * SSE. It limits the size of answers, and ends its sessions.
 */

export interface McpTarget extends HttpTarget {
  readonly protocol: "SSE" | "STREAMABLE_HTTP";
}

export interface McpLimits {
  /** The limit for all answers of one discovery together. */
  readonly maxBytes: number;
  readonly maxPages: number;
}

export const DEFAULT_LIMITS: McpLimits = { maxBytes: 8 * 1024 * 1024, maxPages: 1_000 };
/** How long to wait for the server's answer to the end of its session. */
const GOODBYE_MS = 2_000;
const PROTOCOL_VERSION = "2025-06-18";
const EVENT_STREAM = "text/event-stream";
const CLIENT = { name: "kagent-controller", version: "0.1.0" };

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}
type Fields = Readonly<Record<string, unknown>>;

/** A transport for JSON-RPC messages. */
interface Line {
  /** Resolves to the answer, or to undefined for a notification. */
  send(message: object, id: number | undefined): Promise<Message | undefined>;
  /** Messages that the server sends by itself; undefined if it does not support that. */
  incoming(): Promise<AsyncIterable<Message> | undefined>;
  onVersion(version: string): void;
  end(): Promise<void>;
}

interface Session {
  call(method: string, params: object): Promise<Fields>;
  readonly capabilities: Fields;
  readonly line: Line;
}

export interface ToolList {
  /** In the server's order, without duplicate names. */
  readonly tools: readonly Tool[];
  /** The server declares that it announces changes: see {@link watchTools}. */
  readonly announcesChanges: boolean;
}

/** All tools of a server. Rejects with an `MCP_…` error. */
export async function listTools(
  target: McpTarget,
  signal: AbortSignal,
  onProgress: () => void = () => {},
  limits: McpLimits = DEFAULT_LIMITS,
): Promise<ToolList> {
  return inSession(target, signal, new Budget(limits.maxBytes, onProgress), async ({ call, capabilities }) => {
    const tools = new Map<string, Tool>();
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await call("tools/list", cursor === undefined ? {} : { cursor });
      for (const tool of toolsOf(page)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
      cursor = typeof page.nextCursor === "string" && page.nextCursor !== "" ? page.nextCursor : undefined;
      if (cursor !== undefined && seen.has(cursor)) throw protocolError("tools/list: a page repeats an earlier cursor");
      if (cursor !== undefined) seen.add(cursor);
      if (seen.size >= limits.maxPages) throw protocolError(`tools/list: more than ${limits.maxPages} pages`);
    } while (cursor !== undefined);
    return { tools: [...tools.values()], announcesChanges: announces(capabilities) };
  });
}

const announces = ({ tools }: Fields): boolean => (tools as Fields | undefined)?.listChanged === true;

/**
 * Keeps a session open in which the server announces changes (`notifications/tools/list_changed`). Calls `onChanged`
 * for each, and once at the start, because tools may have changed before the stream opened. Resolves at once if the
 * server offers no such stream; rejects when the stream breaks.
 */
export async function watchTools(target: McpTarget, signal: AbortSignal, onChanged: () => void): Promise<void> {
  const budget = new Budget(DEFAULT_LIMITS.maxBytes, () => {});
  await inSession(target, signal, budget, async ({ capabilities, line }) => {
    const incoming = announces(capabilities) ? await line.incoming() : undefined;
    if (!incoming) return;
    onChanged();
    for await (const { method } of incoming) {
      budget.refill();
      if (method === "notifications/tools/list_changed") onChanged();
    }
    throw protocolError("the stream ended");
  });
}

/** Opens a session, and always ends it. */
async function inSession<T>(
  target: McpTarget,
  signal: AbortSignal,
  budget: Budget,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  let line: Line | undefined;
  try {
    line = await (target.protocol === "SSE" ? sseLine : streamableLine)(target, signal, budget);
    const { send, onVersion } = line;
    let id = 0;
    const call = async (method: string, params: object): Promise<Fields> => {
      const message = await send({ jsonrpc: "2.0", id: ++id, method, params }, id);
      if (message?.error) throw protocolError(`${method}: ${String(message.error.message ?? message.error.code)}`);
      if (typeof message?.result !== "object" || message.result === null) throw protocolError(`${method}: no result`);
      return message.result as Fields;
    };
    const hello = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT };
    const { protocolVersion, capabilities } = await call("initialize", hello);
    onVersion(typeof protocolVersion === "string" ? protocolVersion : PROTOCOL_VERSION);
    await send({ jsonrpc: "2.0", method: "notifications/initialized" }, undefined);
    return await use({ call, capabilities: (capabilities ?? {}) as Fields, line });
  } catch (error) {
    if (error instanceof AgentsError) throw error;
    if (signal.aborted) {
      const isTimeout = (signal.reason as Error | undefined)?.name === "TimeoutError";
      const message = `${hostOf(target.url)}: no answer in time`;
      throw isTimeout ? new AgentsError("MCP_TIMEOUT", message, { cause: error }) : signal.reason;
    }
    throw connectionError(error as Error, target.url);
  } finally {
    await line?.end();
  }
}

const hostOf = (url: string): string => new URL(url).host;
const protocolError = (message: string): AgentsError => new AgentsError("MCP_PROTOCOL", message);

class Budget {
  #left: number;
  readonly #limit: number;
  readonly #onProgress: () => void;

  constructor(limit: number, onProgress: () => void) {
    this.#limit = limit;
    this.#left = limit;
    this.#onProgress = onProgress;
  }

  spend(bytes: number): void {
    this.#onProgress();
    this.#left -= bytes;
    if (this.#left < 0) throw new AgentsError("MCP_TOO_LARGE", `the answers exceed ${this.#limit} bytes`);
  }

  refill(): void {
    this.#left = this.#limit;
  }
}

async function streamableLine(target: McpTarget, signal: AbortSignal, budget: Budget): Promise<Line> {
  const { url } = target;
  let session: Record<string, string> = {};
  return {
    async send(message, id) {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
      const answer = await exchange(target, { method: "POST", url, headers, body: JSON.stringify(message) }, signal);
      checkStatus(answer, url);
      const sessionId = answer.headers["mcp-session-id"];
      if (typeof sessionId === "string") session = { ...session, "mcp-session-id": sessionId };
      if (id !== undefined) return readAnswer(answer, id, budget, url);
      answer.body.destroy();
      return undefined;
    },
    async incoming() {
      const headers = { accept: EVENT_STREAM, ...session };
      const answer = await exchange(target, { method: "GET", url, headers }, signal);
      if (answer.contentType === EVENT_STREAM && answer.status === 200) return messages(answer.body, budget);
      answer.body.destroy();
      return undefined;
    },
    onVersion: (version) => void (session = { ...session, "mcp-protocol-version": version }),
    async end() {
      if (session["mcp-session-id"] === undefined) return;
      // End the session even after an abort. Otherwise the server would keep it.
      try {
        const goodbye = { method: "DELETE", url, headers: session, silenceMs: GOODBYE_MS } as const;
        (await exchange(target, goodbye, new AbortController().signal)).body.destroy();
      } catch {
        // The server is gone, and the session with it.
      }
    },
  };
}

function toolsOf({ tools }: Readonly<Record<string, unknown>>): readonly Tool[] {
  if (!Array.isArray(tools)) throw protocolError("tools/list: the result has no tools");
  return tools.map((tool: { readonly name?: unknown; readonly description?: unknown } | null) => {
    if (typeof tool?.name !== "string") throw protocolError("tools/list: a tool has no name");
    return { name: tool.name, description: typeof tool.description === "string" ? tool.description : "" };
  });
}

function checkStatus({ status, body }: HttpAnswer, url: string): void {
  if (status >= 200 && status < 300) return;
  body.destroy();
  const code = status === 401 || status === 403 ? "MCP_UNAUTHORIZED" : "MCP_HTTP_STATUS";
  throw new AgentsError(code, `${hostOf(url)}: HTTP status ${status}`);
}

function checkType({ contentType, body }: HttpAnswer, expected: string, url: string): void {
  if (contentType === expected) return;
  body.destroy();
  throw new AgentsError(
    "MCP_NOT_MCP",
    `${hostOf(url)}: the answer is ${contentType || "of no type"}, which no MCP server sends`,
  );
}

/** Servers also send requests (`ping`), with ids of their own. A message with a method is never an answer. */
const answers = (message: Message, id: number): boolean => message.id === id && message.method === undefined;

async function readAnswer(answer: HttpAnswer, id: number, budget: Budget, url: string): Promise<Message> {
  const { contentType, body } = answer;
  if (contentType === EVENT_STREAM) {
    for await (const message of messages(body, budget)) {
      if (answers(message, id)) {
        body.destroy();
        return message;
      }
    }
    throw protocolError("the stream ended without an answer");
  }
  checkType(answer, "application/json", url);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    budget.spend(chunk.length);
    text += decoder.decode(chunk, { stream: true });
  }
  return parseMessage(text);
}

async function* events(body: AsyncIterable<Uint8Array>, budget: Budget) {
  const decoder = new TextDecoder();
  const reader = new EventStreamReader();
  for await (const chunk of body) {
    budget.spend(chunk.length);
    yield* reader.push(decoder.decode(chunk, { stream: true }));
  }
}

async function* messages(body: AsyncIterable<Uint8Array>, budget: Budget): AsyncGenerator<Message> {
  for await (const { event, data } of events(body, budget)) if (event === "message") yield parseMessage(data);
}

function parseMessage(text: string): Message {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new AgentsError("MCP_PROTOCOL", "the answer is not JSON", { cause });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw protocolError("the answer is not a JSON-RPC message");
  return parsed as Message;
}

/** The older transport: answers arrive on a stream that stays open. Its `endpoint` event names the URL for requests. */
async function sseLine(target: McpTarget, signal: AbortSignal, budget: Budget): Promise<Line> {
  const opening = { method: "GET", url: target.url, headers: { accept: EVENT_STREAM } } as const;
  const stream = await exchange(target, opening, signal);
  try {
    checkStatus(stream, target.url);
    checkType(stream, EVENT_STREAM, target.url);
    const incoming = events(stream.body, budget);
    let url: URL | undefined;
    while (!url) {
      const { value, done } = await incoming.next();
      if (done) throw protocolError("the stream ended");
      if (value.event === "endpoint") url = new URL(value.data, target.url);
    }
    if (url.origin !== new URL(target.url).origin) throw protocolError("the endpoint is on another host");
    const { href } = url;
    async function* unasked(): AsyncGenerator<Message> {
      for await (const { event, data } of incoming) if (event === "message") yield parseMessage(data);
    }
    const rest = unasked();
    return {
      async send(message, id) {
        const headers = { "content-type": "application/json" };
        const body = JSON.stringify(message);
        const answer = await exchange(target, { method: "POST", url: href, headers, body }, signal);
        checkStatus(answer, target.url);
        answer.body.destroy();
        while (id !== undefined) {
          const { value, done } = await rest.next();
          if (done) throw protocolError("the stream ended");
          if (answers(value, id)) return value;
        }
        return undefined;
      },
      incoming: async () => rest,
      onVersion: () => {},
      end: async () => stream.body.destroy(),
    };
  } catch (error) {
    stream.body.destroy();
    throw error;
  }
}
