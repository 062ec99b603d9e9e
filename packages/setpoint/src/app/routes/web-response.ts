import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorAnswer, type WebAnswer } from "./web-message.js";

/** The body of a request; undefined for one that is larger than allowed. */
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
 * Sends an answer, and gives the status that goes out. What HTTP cannot carry (a header with a line break, a status that
 * is none, a body of another type) is told to `onUnsendable`, and a 500 goes out in its place.
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
    const failure = errorAnswer(new Error("the answer to this request cannot be sent"));
    write(response, failure);
    return failure.status;
  }
}

/** Throws before anything is sent. */
function write(response: ServerResponse, { status, headers, body }: WebAnswer): void {
  // A status below 200 does not end a request: the caller would wait for another.
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`${status} is no status`);
  if (typeof body !== "string" && !(body instanceof Uint8Array)) throw new TypeError(`a body is no ${typeof body}`);
  response.writeHead(status, { "cache-control": "no-store", ...headers });
  response.end(body);
}
