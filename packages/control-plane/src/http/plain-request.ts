import type { ApiRequest } from "./api-request.js";
import { addHeader, type MutableHeaders } from "./request-headers.js";

/** A request of HTTP/1.1 as nearly all are: its head and body arrive together, and its head holds nothing unusual. */
export interface PlainRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: ApiRequest["headers"];
  readonly body: Uint8Array;
  /** How many bytes it took; what follows is the next request. */
  readonly byteLength: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const MAX_HEAD_BYTES = 16 * 1024;

const REQUEST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[!-~]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~]*)$/;

/** What these ask for is Node's to do. */
const UNUSUAL: ReadonlySet<string> = new Set(["transfer-encoding", "expect", "upgrade", "te", "trailer"]);

/**
 * Reads the first request in `bytes`. Undefined for whatever is not plain: a part of a request, a broken one, another
 * version, bodies in chunks, and all that this is not sure of. Node reads those, from their first byte on.
 */
export function parsePlainRequest(bytes: Buffer): PlainRequest | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0 || headEnd > MAX_HEAD_BYTES) return undefined;
  const lines = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const line = REQUEST_LINE.exec(lines[0]!);
  const headers = line && headersOf(lines);
  if (!headers) return undefined;
  const bodyBytes = bodyLength(headers);
  const start = headEnd + HEAD_END.length;
  if (bodyBytes === undefined || start + bodyBytes > bytes.length) return undefined;
  const byteLength = start + bodyBytes;
  return { method: line[1]!, target: line[2]!, headers, body: bytes.subarray(start, byteLength), byteLength };
}

/** The headers below the request line; undefined where one is malformed or unusual. */
function headersOf(lines: readonly string[]): MutableHeaders | undefined {
  const headers: MutableHeaders = Object.create(null);
  for (let at = 1; at < lines.length; at++) {
    const parts = HEADER_LINE.exec(lines[at]!);
    if (parts === null) return undefined;
    const name = parts[1]!.toLowerCase();
    if (UNUSUAL.has(name)) return undefined;
    addHeader(headers, name, parts[2]!.trimEnd());
  }
  const { host, connection } = headers;
  const staysOpen = connection === undefined || String(connection).toLowerCase() === "keep-alive";
  return staysOpen && typeof host === "string" && !host.includes(",") ? headers : undefined;
}

/** Undefined for a length that is none; one that is said twice is none either. */
function bodyLength(headers: MutableHeaders): number | undefined {
  const length = headers["content-length"];
  if (length === undefined) return 0;
  return typeof length === "string" && /^\d{1,9}$/.test(length) ? Number(length) : undefined;
}
