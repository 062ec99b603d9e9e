import type { ApiRequest } from "../api/api-request.js";
import { addHeader, type MutableHeaders } from "./request-headers.js";

/** An ordinary HTTP/1.1 request: head and body arrive together, and the head has nothing unusual. */
export interface PlainRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: ApiRequest["headers"];
  readonly body: Uint8Array;
  /** The length of the request. The next request starts after it. */
  readonly byteLength: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const MAX_HEAD_BYTES = 16 * 1024;

const REQUEST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[!-~]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~]*)$/;

/** Node handles requests with these headers. Its parser treats Proxy-Connection like Connection. */
const UNUSUAL: ReadonlySet<string> = new Set([
  ...["transfer-encoding", "expect", "upgrade", "te", "trailer", "proxy-connection"],
]);

/** The head below the request line. Most requests of a connection repeat it. */
interface Head {
  readonly text: string;
  readonly headers: ApiRequest["headers"];
  readonly bodyBytes: number;
}

/** Parses the requests of one connection. */
export class PlainRequests {
  #latest: Head | undefined;

  /**
   * Parses the first request in `bytes`. Returns undefined if the request is incomplete, broken, of another HTTP
   * version, chunked or otherwise not plain. Node then parses it from its first byte.
   */
  parse(bytes: Buffer): PlainRequest | undefined {
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0 || headEnd > MAX_HEAD_BYTES) return undefined;
    const text = bytes.toString("latin1", 0, headEnd);
    const lineEnd = text.indexOf("\r\n");
    const line = lineEnd < 0 ? null : REQUEST_LINE.exec(text.slice(0, lineEnd));
    const head = line && this.#head(text.slice(lineEnd + 2));
    if (!head) return undefined;
    const start = headEnd + HEAD_END.length;
    const byteLength = start + head.bodyBytes;
    if (byteLength > bytes.length) return undefined;
    const body = bytes.subarray(start, byteLength);
    return { method: line[1]!, target: line[2]!, headers: head.headers, body, byteLength };
  }

  #head(text: string): Head | undefined {
    if (text === this.#latest?.text) return this.#latest;
    const headers = headersOf(text.split("\r\n"));
    const bodyBytes = headers && bodyLength(headers);
    if (bodyBytes === undefined) return undefined;
    this.#latest = { text, headers: headers!, bodyBytes };
    return this.#latest;
  }
}

/** Undefined if a line is malformed or unusual. */
function headersOf(lines: readonly string[]): MutableHeaders | undefined {
  const headers: MutableHeaders = Object.create(null);
  for (const line of lines) {
    const parts = HEADER_LINE.exec(line);
    if (parts === null) return undefined;
    const name = parts[1]!.toLowerCase();
    if (UNUSUAL.has(name)) return undefined;
    addHeader(headers, name, parts[2]!.trimEnd());
  }
  const { host, connection } = headers;
  const staysOpen = connection === undefined || String(connection).toLowerCase() === "keep-alive";
  return staysOpen && typeof host === "string" && !host.includes(",") ? headers : undefined;
}

/** Undefined if the length is invalid or repeated. */
function bodyLength(headers: MutableHeaders): number | undefined {
  const length = headers["content-length"];
  if (length === undefined) return 0;
  return typeof length === "string" && /^\d{1,9}$/.test(length) ? Number(length) : undefined;
}
