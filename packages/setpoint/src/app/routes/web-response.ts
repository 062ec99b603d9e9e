import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorAnswer, type WebAnswer } from "./web-message.js";

/** The body of a request; undefined if it is larger than allowed. */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Sends a response and returns its status. If HTTP cannot carry it (a header with a line break, an invalid status, a
 * body of another type), calls `onUnsendable` and sends a 500 instead.
 */
export function sendAnswer(
  response: ServerResponse,
  answer: WebAnswer,
  onUnsendable: (error: unknown) => void,
): number {
  try {
    write(response, answer);
    return answer.status;
  } catch (error) {
    onUnsendable(error);
    const failure = errorAnswer(new Error("cannot send the response to this request"));
    write(response, failure);
    return failure.status;
  }
}

/** Throws before anything is sent. */
function write(response: ServerResponse, { status, headers, body }: WebAnswer): void {
  // A status below 200 is interim: the caller would wait for another response.
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`${status} is not an HTTP status`);
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError(`a body cannot be a ${typeof body}`);
  response.writeHead(status, { "cache-control": "no-store", ...headers });
  response.end(body);
}
