import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { ApiRequest, ApiResponse } from "../api/api-request.js";

export interface WebSocketOffer {
  /** Picks one of the offered subprotocols; undefined rejects them. Called even if none is offered. */
  readonly choose: (offered: readonly string[]) => string | undefined;
  /** Whether to reject a client without an `Origin`. */
  readonly needsOrigin?: boolean;
  /** Serves the connection from the first byte after the handshake, and closes it. */
  readonly serve: (connection: Duplex) => Promise<void>;
}

/** Denotes no subprotocol. */
export const NO_PROTOCOL = "";

const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";
const VERSION = "13";
const KEY_SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Whether a request asks for a WebSocket. */
export function isWebSocketRequest({ upgrade }: Omit<ApiRequest, "body">): boolean {
  return upgrade?.toLowerCase() === "websocket";
}

/** Upgrades the connection to a WebSocket, or rejects it with kube-apiserver's message. */
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

/** The offered subprotocols, except the one that only carries a token. */
export function offeredProtocols(headers: ApiRequest["headers"]): readonly string[] {
  return protocolsIn(headers).filter((each) => !each.startsWith(BEARER_PROTOCOL));
}

/**
 * The token that a web page sends as a subprotocol, because it cannot set a header. It must also offer a real
 * subprotocol. Undefined without a token, null for an unusable one.
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

/** The `Sec-WebSocket-Accept` value for this key. */
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

/** kube-apiserver requires an absolute URL, any URL. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) || text.startsWith("/");
}
