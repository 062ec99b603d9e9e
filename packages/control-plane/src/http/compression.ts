import { once } from "node:events";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { ApiHandler, ApiRequest, ApiResponse } from "../api/api-request.js";
import { isWatch } from "../api/request-info.js";

/** Smaller responses are not compressed, as on the real server. */
const THRESHOLD_BYTES = 128 * 1024;
/** Speed matters more than size on a loopback; the real server uses the same level. */
const LEVEL = 1;

const pack = promisify(gzip);

/**
 * Compresses large responses for clients that accept gzip. Never compresses a watch: each event must be sent at once.
 */
export function compressing(handler: ApiHandler): ApiHandler {
  return (request) => (acceptsGzip(request) ? answerPacked(handler, request) : handler(request));
}

async function answerPacked(handler: ApiHandler, request: ApiRequest): Promise<ApiResponse> {
  const response = await handler(request);
  if (response.headers["content-encoding"] !== undefined) return response;
  if (response.body instanceof Uint8Array) {
    if (response.body.byteLength < THRESHOLD_BYTES) return response;
    return packed(response, await pack(response.body, { level: LEVEL }));
  }
  return isWatch(request.info) ? response : packedStream(response, response.body);
}

function acceptsGzip(request: ApiRequest): boolean {
  const accepted = request.headers["accept-encoding"];
  if (accepted === undefined) return false;
  return String(accepted)
    .split(",")
    .some((part) => part.trim().split(";")[0] === "gzip");
}

function packed(response: ApiResponse, body: ApiResponse["body"]): ApiResponse {
  const headers = { ...response.headers, "content-encoding": "gzip", vary: "Accept-Encoding" };
  return { status: response.status, headers, body };
}

/** Buffers up to the threshold before it decides. A shorter stream is sent whole, uncompressed. */
async function packedStream(response: ApiResponse, body: AsyncIterable<Uint8Array>): Promise<ApiResponse> {
  const source = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < THRESHOLD_BYTES) {
    const next = await source.next();
    if (next.done) return { ...response, body: Buffer.concat(chunks) };
    chunks.push(next.value);
    bytes += next.value.byteLength;
  }
  return packed(response, gzipped(chunks, source));
}

async function* gzipped(first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  const stream = createGzip({ level: LEVEL });
  const feed = async (): Promise<void> => {
    for (const chunk of first) stream.write(chunk);
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      if (!stream.write(next.value)) await once(stream, "drain");
    }
    stream.end();
  };
  feed().catch((error: unknown) => stream.destroy(error as Error));
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } finally {
    stream.destroy();
    await rest.return?.();
  }
}
