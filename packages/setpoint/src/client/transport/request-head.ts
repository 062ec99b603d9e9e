import { Buffer } from "node:buffer";
import { SetpointError } from "../../errors/error.js";
import { ownField } from "../../kinds/own-field.js";
import type { TransportRequest } from "./transport.js";

/** The characters allowed in a request line or a header: others could smuggle in a second request. */
const PATH = /^\/[\x21-\x7e]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers of a request in the form in which they are sent. */
export type WireHeaders = readonly (readonly [name: string, value: string])[];

/**
 * The headers of a request, repeated ones separate. Values beyond latin1 are sent as UTF-8 bytes, as Go does. Throws
 * `REQUEST_INVALID` if the result would not be one well-formed request.
 */
export function wireHeaders(request: TransportRequest, path: string): WireHeaders {
  if (!PATH.test(path)) {
    throw new SetpointError("REQUEST_INVALID", `the path is not percent-encoded: ${JSON.stringify(path)}`);
  }
  const headers: [string, string][] = [];
  for (const name in request.headers) {
    if (!HEADER_NAME.test(name)) {
      throw new SetpointError("REQUEST_INVALID", `${JSON.stringify(name)} cannot be a header's name`);
    }
    const value = request.headers[name]!;
    if (typeof value === "string") headers.push([name, wireValue(name, value)]);
    else for (const item of value) headers.push([name, wireValue(name, item)]);
  }
  return headers;
}

function wireValue(name: string, value: string): string {
  if (HEADER_VALUE.test(value)) return value;
  const text = Buffer.from(value, "utf8").toString("latin1");
  if (HEADER_VALUE.test(text)) return text;
  throw new SetpointError("REQUEST_INVALID", `the header ${name} contains a control character`);
}

/** The bytes of an HTTP/1.1 request up to its body, in latin1. */
export function encodeHead(request: TransportRequest, path: string, host: string): string {
  let head = `${request.method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const [name, value] of wireHeaders(request, path)) head += `${name}: ${value}\r\n`;
  const mayHaveBody = request.method === "POST" || request.method === "PUT" || request.method === "PATCH";
  if (request.body?.length || mayHaveBody) head += `content-length: ${request.body?.length ?? 0}\r\n`;
  return `${head}\r\n`;
}

/** The headers of an HTTP/2 request as `node:http2` takes them. */
export function http2Headers(request: TransportRequest, path: string): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of wireHeaders(request, path)) {
    const before = ownField(headers, name);
    if (before === undefined) headers[name] = value;
    else headers[name] = typeof before === "string" ? [before, value] : [...before, value];
  }
  return headers;
}
