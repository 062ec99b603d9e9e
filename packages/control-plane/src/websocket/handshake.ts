import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { ApiRequest, ApiResponse } from "../api/api-request.js";

export interface WebSocketOffer {
  /** Which of the offered subprotocols is spoken; undefined refuses them. Asked also where none is offered. */
  readonly choose: (offered: readonly string[]) => string | undefined;
  /** Whether a caller without an `Origin` is refused. */
  readonly needsOrigin?: boolean;
  /** Speaks on the connection, from its first byte after the handshake on, and closes it. */
  readonly serve: (connection: Duplex) => Promise<void>;
}

/** Stands for no subprotocol. */
export const NO_PROTOCOL = "";

const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";
const VERSION = "13";
const KEY_SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Whether a request can be, and wants to be, answered with a WebSocket. */
export function isWebSocketRequest({ upgrade }: Omit<ApiRequest, "body">): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

/** Switches the connection to a WebSocket, or says with the real server's words why not. */
export function answerWebSocket(request: ApiRequest, offer: WebSocketOffer): ApiResponse {
  const { headers, method } = request;
  if (method !== "GET") return refused(405, "bad method");
  const key = textOf(headers["sec-websocket-key"]);
  if (key === "") return refused(400, "mismatch challenge/response");
  if (headers["sec-websocket-version"] !== VERSION) {
    return refused(400, "missing or bad WebSocket Version", { "sec-websocket-version": VERSION });
  }
  if (offer.needsOrigin && !isOrigin(textOf(headers.origin))) return refused(403, "");
  const protocol = offer.choose(offeredProtocols(headers));
  if (protocol === undefined) return refused(400, "");
  return {
    status: 101,
    headers: {
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-accept": acceptOf(key),
      ...(protocol !== NO_PROTOCOL && { "sec-websocket-protocol": protocol }),
    },
    body: new Uint8Array(),
    takeOver: offer.serve,
  };
}

/** Without the one that only carries a token. */
export function offeredProtocols(headers: ApiRequest["headers"]): readonly string[] {
  return protocolsIn(headers).filter((each) => !each.startsWith(BEARER_PROTOCOL));
}

/**
 * The token that a page in a browser, which can set no header, gives as a subprotocol beside the one that it wants to
 * speak: undefined where there is none, null where it cannot be used.
 */
export function protocolToken(request: Omit<ApiRequest, "body">): string | null | undefined {
  if (!isWebSocketRequest(request)) return undefined;
  const tokens = protocolsIn(request.headers).filter((each) => each.startsWith(BEARER_PROTOCOL));
  if (tokens.length === 0) return undefined;
  const encoded = tokens[0]!.slice(BEARER_PROTOCOL.length);
  if (encoded === "" && tokens.length === 1) return undefined;
  const isUsable = tokens.length === 1 && /^[\w-]+$/.test(encoded) && offeredProtocols(request.headers).length > 0;
  return isUsable ? Buffer.from(encoded, "base64url").toString() : null;
}

function protocolsIn(headers: ApiRequest["headers"]): readonly string[] {
  const text = textOf(headers["sec-websocket-protocol"]);
  return text.trim() === "" ? [] : text.split(",").map((each) => each.trim());
}

/** What a server answers to this key, to show that it has understood. */
export function acceptOf(key: string): string {
  return createHash("sha1")
    .update(key + KEY_SALT)
    .digest("base64");
}

function refused(status: number, why: string, headers: ApiResponse["headers"] = {}): ApiResponse {
  return { status, headers, body: Buffer.from(why) };
}

function textOf(value: ApiRequest["headers"][string]): string {
  return typeof value === "string" ? value : (value?.join(",") ?? "");
}

/** The real server asks for an absolute address, whichever. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) || text.startsWith("/");
}
