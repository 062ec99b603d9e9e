import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Clock } from "setpoint/clock";
import type { ApiRequest } from "../api/api-request.js";
import { StatusError } from "../api/status-error.js";
import { BODY_LIMIT_BYTES, bodyTooLarge } from "./request-body.js";

/** A request of either protocol. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** Time limit of a body, as on the real server. Before version 24 Node has no such limit alongside HTTP/2. */
const BODY_TIMEOUT_MS = 60_000;

export const CLIENT_GONE = new Error("the client has gone");

/** Checks the object, not the request line: an HTTP/1.1 request may say `GET / HTTP/2.0`. */
export function isHttp2(request: NodeRequest): request is Http2ServerRequest {
  return "stream" in request;
}

/** Whether there is a body to read. Most reads have none. */
export function hasBody(request: NodeRequest, headers: ApiRequest["headers"]): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  return (headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined;
}

/**
 * Reads the body within the size and time limits. Rejects with a `StatusError` otherwise. Calls `reserve` before it
 * keeps bytes; `reserve` throws if there is no room.
 */
export function readBody(
  request: NodeRequest,
  headers: ApiRequest["headers"],
  clock: Clock,
  reserve: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  if (Number(headers["content-length"] ?? 0) > BODY_LIMIT_BYTES) return Promise.reject(bodyTooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const timeout = clock.timer(BODY_TIMEOUT_MS, () => fail(slowBody())).unref();
    const settle = (): void => {
      timeout[Symbol.dispose]();
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onClose);
    };
    const fail = (error: Error): void => {
      settle();
      request.pause();
      reject(error);
    };
    const onData = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength;
      if (bytes > BODY_LIMIT_BYTES) {
        fail(bodyTooLarge());
        return;
      }
      try {
        reserve(chunk.byteLength);
        chunks.push(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    const onClose = (): void => fail(CLIENT_GONE);
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", onClose);
  });
}

function slowBody(): StatusError {
  return new StatusError(504, "Timeout", "Timeout: request did not complete within the allotted timeout", {});
}
