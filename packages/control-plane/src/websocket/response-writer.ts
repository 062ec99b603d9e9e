import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "setpoint/clock";
import type { ApiResponse } from "../api/api-request.js";

/** An HTTP/1 or HTTP/2 response. Both have the same methods, but TypeScript cannot call them as a union. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** A client that reads nothing for this long, while there is data, is disconnected. */
const STALLED_MS = 30_000;

/**
 * Writes a response as fast as the client reads it. Resolves when everything is handed to the socket, or the client
 * is gone. Ends the body's iterator in either case. If the body fails, aborts the response before rejecting, so that
 * an incomplete response does not look complete.
 */
export async function writeResponse(response: NodeResponse, answer: ApiResponse, clock: Clock): Promise<void> {
  const { status, headers, body } = answer;
  // Node's types require mutable arrays, but Node does not change them.
  const head = headers as Record<string, string | string[]>;
  const isWhole = body instanceof Uint8Array;
  if (isWhole) {
    const length = status === 204 || status === 304 ? {} : { "content-length": String(body.byteLength) };
    response.writeHead(status, { ...head, ...length });
    if (body.byteLength <= PIECE_BYTES) {
      response.end(body);
      return;
    }
  } else response.writeHead(status, head);
  const stream = response as ServerResponse;
  if (!isWhole) stream.flushHeaders();
  try {
    for await (const chunk of isWhole ? pieces(body) : body) {
      if (response.destroyed) break;
      if (!stream.write(chunk)) await drained(response, clock);
    }
  } catch (error) {
    cutOff(response);
    throw error;
  }
  await ended(response, clock);
}

/** Large bodies are written in pieces, to detect a client that does not read. */
const PIECE_BYTES = 256 * 1024;

function* pieces(body: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

function cutOff(response: NodeResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

/** A response or a connection. */
interface Sink {
  readonly destroyed: boolean;
  destroy(): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** Resolves when there is room again, or the client is gone. */
export function drained(response: Sink, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stalled = clock.timer(STALLED_MS, () => response.destroy()).unref();
    const done = (): void => {
      stalled[Symbol.dispose]();
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
    if (response.destroyed) done();
  });
}

/** Writes the last bytes of an answer and resolves when they are sent; disconnects a client that does not read. */
export function taken(socket: Socket, bytes: Uint8Array, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stalled = clock.timer(STALLED_MS, () => socket.destroy()).unref();
    socket.write(bytes, () => {
      stalled[Symbol.dispose]();
      resolve();
    });
  });
}

/** Ends the body; disconnects a client that does not read the rest in time. */
function ended(response: NodeResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed || response.closed) return resolve();
    const stalled = clock.timer(STALLED_MS, () => response.destroy()).unref();
    response.once("close", () => {
      stalled[Symbol.dispose]();
      resolve();
    });
    response.end();
  });
}
