import type { Tool } from "../database/store.js";
import { AgentsError } from "../errors.js";
import { EventStreamReader } from "./event-stream.js";
import { connectionError, exchange, type HttpAnswer, type HttpTarget } from "./http-exchange.js";

/**
 * A client of the Model Context Protocol for what the operator asks of servers: which tools they have. By Streamable
 * HTTP, or by the older HTTP with SSE. Answers are bounded, and sessions are ended.
 */

export interface McpTarget extends HttpTarget {
  readonly protocol: "SSE" | "STREAMABLE_HTTP";
}

export interface McpLimits {
  /** Of all answers of one discovery together. */
  readonly maxBytes: number;
  readonly maxPages: number;
}

export const DEFAULT_LIMITS: McpLimits = { maxBytes: 8 * 1024 * 1024, maxPages: 1_000 };
/** How long a server may be silent about the end of its session. */
const GOODBYE_MS = 2_000;
const PROTOCOL_VERSION = "2025-06-18";
const CLIENT = { name: "kagent-controller", version: "0.1.0" };

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

/** Sends a message of JSON-RPC; resolves to the answer, or to nothing for a notification. */
type Send = (message: object, id: number | undefined) => Promise<Message | undefined>;

/** All tools of a server, in its order; a name that comes twice counts once. Rejects with an `MCP_…` error. */
export async function listTools(
  target: McpTarget,
  signal: AbortSignal,
  onProgress: () => void = () => {},
  limits: McpLimits = DEFAULT_LIMITS,
): Promise<readonly Tool[]> {
  const budget = new Budget(limits.maxBytes, onProgress);
  try {
    const isSse = target.protocol === "SSE";
    return await (isSse ? overSse(target, signal, budget, limits) : overStreamableHttp(target, signal, budget, limits));
  } catch (error) {
    if (error instanceof AgentsError) throw error;
    if (signal.aborted) {
      const isTimeout = (signal.reason as Error | undefined)?.name === "TimeoutError";
      const message = `${hostOf(target.url)}: no answer in time`;
      throw isTimeout ? new AgentsError("MCP_TIMEOUT", message, { cause: error }) : signal.reason;
    }
    throw connectionError(error as Error, target.url);
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
}

async function overStreamableHttp(target: McpTarget, signal: AbortSignal, budget: Budget, limits: McpLimits) {
  let session: Record<string, string> = {};
  const send: Send = async (message, id) => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
    const body = JSON.stringify(message);
    const answer = await exchange(target, { method: "POST", url: target.url, headers, body }, signal);
    checkStatus(answer, target.url);
    const sessionId = answer.headers["mcp-session-id"];
    if (typeof sessionId === "string") session = { ...session, "mcp-session-id": sessionId };
    if (id === undefined) {
      answer.body.destroy();
      return undefined;
    }
    return readAnswer(answer, id, budget, target.url);
  };
  try {
    return await converse(send, limits, (version) => (session = { ...session, "mcp-protocol-version": version }));
  } finally {
    if (session["mcp-session-id"] !== undefined) await endSession(target, session);
  }
}

/** A session that is not ended would stay with the server. It is ended even where the discovery was given up. */
async function endSession(target: McpTarget, headers: Readonly<Record<string, string>>): Promise<void> {
  try {
    const goodbye = { method: "DELETE", url: target.url, headers, silenceMs: GOODBYE_MS } as const;
    const answer = await exchange(target, goodbye, new AbortController().signal);
    answer.body.destroy();
  } catch {
    // The server is gone, and the session with it.
  }
}

async function converse(send: Send, limits: McpLimits, onVersion: (version: string) => void): Promise<readonly Tool[]> {
  let id = 0;
  const call = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
    const message = await send({ jsonrpc: "2.0", id: ++id, method, params }, id);
    if (message?.error) throw protocolError(`${method}: ${String(message.error.message ?? message.error.code)}`);
    if (typeof message?.result !== "object" || message.result === null) throw protocolError(`${method}: no result`);
    return message.result as Readonly<Record<string, unknown>>;
  };
  const hello = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT };
  const { protocolVersion } = await call("initialize", hello);
  onVersion(typeof protocolVersion === "string" ? protocolVersion : PROTOCOL_VERSION);
  await send({ jsonrpc: "2.0", method: "notifications/initialized" }, undefined);
  const tools = new Map<string, Tool>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await call("tools/list", cursor === undefined ? {} : { cursor });
    for (const tool of toolsOf(page)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    cursor = typeof page.nextCursor === "string" && page.nextCursor !== "" ? page.nextCursor : undefined;
    if (cursor !== undefined && seen.has(cursor)) throw protocolError("tools/list: the pages lead in a circle");
    if (cursor !== undefined) seen.add(cursor);
    if (seen.size >= limits.maxPages) throw protocolError(`tools/list: more than ${limits.maxPages} pages`);
  } while (cursor !== undefined);
  return [...tools.values()];
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

async function readAnswer(answer: HttpAnswer, id: number, budget: Budget, url: string): Promise<Message> {
  const { contentType, body } = answer;
  if (contentType === "text/event-stream") {
    for await (const { data } of events(body, budget)) {
      const message = parseMessage(data);
      if (message.id === id) {
        body.destroy();
        return message;
      }
    }
    throw protocolError("the stream ended without an answer");
  }
  if (contentType !== "application/json") {
    body.destroy();
    throw new AgentsError(
      "MCP_NOT_MCP",
      `${hostOf(url)}: the answer is ${contentType || "of no type"}, not JSON or an event stream`,
    );
  }
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

function parseMessage(text: string): Message {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new AgentsError("MCP_PROTOCOL", "the answer is no JSON", { cause });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw protocolError("the answer is no message");
  return parsed as Message;
}

/** The older transport: answers come over a stream that stays open, and the stream says where to send. */
async function overSse(
  target: McpTarget,
  signal: AbortSignal,
  budget: Budget,
  limits: McpLimits,
): Promise<readonly Tool[]> {
  const stream = await exchange(
    target,
    { method: "GET", url: target.url, headers: { accept: "text/event-stream" } },
    signal,
  );
  checkStatus(stream, target.url);
  if (stream.contentType !== "text/event-stream") {
    stream.body.destroy();
    throw new AgentsError(
      "MCP_NOT_MCP",
      `${hostOf(target.url)}: the answer is ${stream.contentType || "of no type"}, not an event stream`,
    );
  }
  const incoming = events(stream.body, budget);
  const next = async (): Promise<{ readonly event: string; readonly data: string }> => {
    const { value, done } = await incoming.next();
    if (done) throw protocolError("the stream ended");
    return value;
  };
  try {
    let first = await next();
    while (first.event !== "endpoint") first = await next();
    const url = new URL(first.data, target.url);
    if (url.origin !== new URL(target.url).origin) throw protocolError("the endpoint is on another host");
    const send: Send = async (message, id) => {
      const headers = { "content-type": "application/json" };
      const answer = await exchange(
        target,
        { method: "POST", url: url.href, headers, body: JSON.stringify(message) },
        signal,
      );
      checkStatus(answer, target.url);
      answer.body.destroy();
      for (;;) {
        if (id === undefined) return undefined;
        const { event, data } = await next();
        const answered = event === "message" ? parseMessage(data) : {};
        if (answered.id === id) return answered;
      }
    };
    return await converse(send, limits, () => {});
  } finally {
    stream.body.destroy();
  }
}
