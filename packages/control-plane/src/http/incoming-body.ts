import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Clock } from "setpoint";
import { StatusError } from "../registry/status-error.js";
import type { ApiRequest } from "./api-request.js";
import { BODY_LIMIT_BYTES, bodyTooLarge } from "./request-body.js";

/** Either protocol's request. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** A body must arrive whole within this, as on the real server: Node has no such limit beside HTTP/2 before its version 24. */
const BODY_TIMEOUT_MS = 60_000;

export const CLIENT_GONE = new Error("the client has gone");

/** Most reads have none, and need not wait for its end. */
export function hasBody(request: NodeRequest, headers: ApiRequest["headers"]): boolean {
  if (request.httpVersionMajor === 2) return !(request as Http2ServerRequest).stream.endAfterHeaders;
  return (headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined;
}

/** The bytes as they come, within the limit and in time; rejects with a `StatusError` else. */
export function readBody(request: NodeRequest, headers: ApiRequest["headers"], clock: Clock): Promise<Uint8Array> {
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
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > BODY_LIMIT_BYTES) fail(bodyTooLarge());
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
