import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "setpoint/clock";
import type { ApiResponse } from "../api/api-request.js";

/** Either protocol's response; both write alike, though TypeScript cannot call them as a union. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** A reader that takes nothing for so long, while there is something to take, is cut off. */
const STALLED_MS = 30_000;

/**
 * Writes an answer, as fast as its reader takes it. Resolves when all of it was handed to the socket, or the reader
 * has gone; the body's iterator is ended in either case. Where the body fails, the answer is cut off before this rejects:
 * what is incomplete must not look complete.
 */
export async function writeResponse(response: NodeResponse, answer: ApiResponse, clock: Clock): Promise<void> {
  const { status, headers, body } = answer;
  // Node's types want mutable arrays; it does not write to them.
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

/** Large bodies are written in pieces, so that a client that does not read is noticed. */
const PIECE_BYTES = 256 * 1024;

function* pieces(body: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

function cutOff(response: NodeResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

/** What can be written to: a response, or a connection. */
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
