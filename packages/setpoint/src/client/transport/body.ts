import { Buffer, isUtf8 } from "node:buffer";
import { SetpointError } from "../../errors/error.js";
import { nameOfRequest, type RequestSummary } from "../request-summary.js";
import { BodyQueue, type BodySource } from "./body-queue.js";
import type { TransportResponse } from "./transport.js";

/** The whole body. With `maxBytes`, stops there and closes the stream. */
export async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes = Infinity): Promise<Buffer> {
  const whole = body instanceof BodyQueue ? body.takeWhole() : undefined;
  if (whole) return joined(whole);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return joined(chunks);
}

function joined(chunks: readonly Uint8Array[]): Buffer {
  const only = chunks[0];
  if (chunks.length === 1 && only) return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
  return Buffer.concat(chunks);
}

/** A body whose bytes are known already. Its reader gets the bytes without a copy. */
export function wholeBody(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  const body = new BodyQueue(NO_SOURCE);
  if (bytes.byteLength > 0) body.push(bytes);
  body.end();
  return body;
}

const NO_SOURCE: BodySource = { pause() {}, resume() {}, cancel() {} };

/** Whether the whole body has arrived with the response headers, as short ones do. */
export function isComplete(body: AsyncIterable<Uint8Array>): boolean {
  return body instanceof BodyQueue && body.isEnded;
}

/**
 * Reads a body to its end. Calls `onChunk` with each chunk, which is valid only during the call; some transports call
 * it directly from the socket. If `onChunk` throws, closes the body and rejects with that error.
 */
export async function consume(body: AsyncIterable<Uint8Array>, onChunk: (chunk: Uint8Array) => void): Promise<void> {
  if (body instanceof BodyQueue) return body.consume(onChunk);
  for await (const chunk of body) onChunk(chunk);
}

/** Discards a body: reads a short rest so that the connection can be reused, otherwise closes it. */
export async function drain(response: Pick<TransportResponse, "body">): Promise<void> {
  await readBytes(response.body, 64 * 1024).catch(() => undefined);
}

/** Reads the whole body as JSON. Otherwise rejects with `RESPONSE_INVALID`, which shows the start of the body. */
export async function readJson(request: RequestSummary, response: TransportResponse): Promise<unknown> {
  const bytes = await readBytes(response.body);
  try {
    if (!isUtf8(bytes)) throw new SyntaxError("it is not UTF-8");
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw notJson(request, response, bytes, cause);
  }
}

function notJson(request: RequestSummary, response: TransportResponse, bytes: Buffer, cause: unknown): SetpointError {
  const { "content-type": type = "none", "content-encoding": encoding } = response.headers;
  const declared = `content-type ${type}${encoding ? `, content-encoding ${encoding}` : ""}`;
  const start = bytes.length === 0 ? "it is empty" : `it starts with: ${startOf(bytes)}`;
  const message = `${nameOfRequest(request)}: the answer (${response.status}, ${declared}) is not JSON; ${start}`;
  return new SetpointError("RESPONSE_INVALID", message, { cause });
}

/** The start of a body, safe to show on one line. */
export function startOf(bytes: Buffer): string {
  const text = bytes.subarray(0, 400).toString("utf8").replaceAll(/\s+/g, " ").trim();
  const shown = text.replaceAll(/[\p{Cc}\p{Cf}\ufffd]/gu, "?");
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}
