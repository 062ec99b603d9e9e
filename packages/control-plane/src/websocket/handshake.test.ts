import { describe, expect, it } from "vitest";
import type { ApiRequest, ApiResponse } from "../api/api-request.js";
import { parseTarget } from "../api/request-target.js";
import {
  acceptOf,
  answerWebSocket,
  isWebSocketRequest,
  NO_PROTOCOL,
  protocolToken,
  type WebSocketOffer,
} from "./handshake.js";

const request = (headers: ApiRequest["headers"] = {}, more: Partial<ApiRequest> = {}): ApiRequest => ({
  ...parseTarget("GET", "/"),
  headers: {
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    origin: "https://example.com",
    ...headers,
  },
  body: new Uint8Array(),
  upgrade: "websocket",
  isInProcess: false,
  signal: new AbortController().signal,
  ...more,
});

const first: WebSocketOffer["choose"] = (offered) => offered[0] ?? NO_PROTOCOL;

const answerTo = (asked: ApiRequest, choose = first): ApiResponse =>
  answerWebSocket(asked, { choose, needsOrigin: true, serve: async () => {} });

const token = (text: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString("base64url")}`;

describe("the handshake of a WebSocket", () => {
  it("answers the example key of RFC 6455", () => {
    expect(acceptOf("dGhlIHNhbXBsZSBub25jZQ==")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const { status, headers, takeOver } = answerTo(request());
    expect(status).toBe(101);
    expect(headers).toEqual({
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    });
    expect(takeOver).toBeDefined();
  });

  it("names the chosen protocol", () => {
    const chosen = answerTo(request({ "sec-websocket-protocol": "a, v5.channel.k8s.io" }), (offered) => offered[1]);
    expect(chosen.headers["sec-websocket-protocol"]).toBe("v5.channel.k8s.io");
  });

  it.each([
    ["no key", { "sec-websocket-key": undefined }, 400, "mismatch challenge/response"],
    ["another version", { "sec-websocket-version": "8" }, 400, "missing or bad WebSocket Version"],
    ["no origin", { origin: undefined }, 403, ""],
    ["an opaque origin", { origin: "null" }, 403, ""],
  ])("refuses %s", (_what, headers, status, text) => {
    const refused = answerTo(request(headers));
    expect([refused.status, Buffer.from(refused.body as Uint8Array).toString()]).toEqual([status, text]);
    expect(refused.takeOver).toBeUndefined();
  });

  it("refuses unknown protocols, and methods other than GET", () => {
    expect(answerTo(request(), () => undefined).status).toBe(400);
    expect(answerTo(request({}, { method: "POST" })).status).toBe(405);
  });

  it("is refused if the connection cannot be switched", () => {
    const { upgrade: _, ...fixed } = request({ upgrade: "websocket" });
    expect(isWebSocketRequest(fixed)).toBe(false);
    expect(isWebSocketRequest(request({}, { upgrade: "WebSocket" }))).toBe(true);
    expect(isWebSocketRequest(request({}, { upgrade: "SPDY/3.1" }))).toBe(false);
  });

  it("accepts a token beside the requested protocol", () => {
    const asked = request({ "sec-websocket-protocol": `${token("secret")}, other` });
    expect(protocolToken(asked)).toBe("secret");
    expect(answerTo(asked).headers["sec-websocket-protocol"]).toBe("other");
    expect(protocolToken(request())).toBeUndefined();
    expect(protocolToken(request({ "sec-websocket-protocol": `${token("")}, c` }))).toBeUndefined();
    expect(protocolToken(request({ "sec-websocket-protocol": token("alone") }))).toBeNull();
    expect(protocolToken(request({ "sec-websocket-protocol": `${token("a")}, ${token("b")}, c` }))).toBeNull();
  });
});
