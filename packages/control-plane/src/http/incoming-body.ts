import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Clock } from "setpoint/clock";
import type { ApiRequest } from "../api/api-request.js";
import { StatusError } from "../api/status-error.js";
import { BODY_LIMIT_BYTES, bodyTooLarge } from "./request-body.js";

/** Either protocol's request. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** A body must arrive whole within this, as on the real server: Node has no such limit beside HTTP/2 before its version 24. */
const BODY_TIMEOUT_MS = 60_000;

export const CLIENT_GONE = new Error("the client has gone");

/** By what it is, not by what its request line says: over HTTP/1.1 that may be `GET / HTTP/2.0`. */
export function isHttp2(request: NodeRequest): request is Http2ServerRequest {
  return "stream" in request;
}

/** Most reads have none, and need not wait for its end. */
export function hasBody(request: NodeRequest, headers: ApiRequest["headers"]): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  return (headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined;
}

/**
 * The bytes of the body, within the size and time limits; otherwise rejects with a `StatusError`. Calls `reserve`
 * before bytes are kept, which throws if there is no room.
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
