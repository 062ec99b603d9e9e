import type { ApiRequest } from "../api/api-request.js";

export type MutableHeaders = Record<string, string | string[]>;

/** Joins repeated headers like Node, except impersonation headers, whose values stay separate. */
export function addHeader(headers: MutableHeaders, name: string, value: string): void {
  const known = headers[name];
  if (known === undefined) headers[name] = value;
  else if (name.startsWith("impersonate-")) headers[name] = [known, value].flat();
  else headers[name] = `${known}, ${value}`;
}

/** Converts Node's raw headers: names and values in turn. */
export function headersOf(raw: readonly string[]): ApiRequest["headers"] {
  const headers: MutableHeaders = Object.create(null);
  for (let at = 0; at < raw.length; at += 2) addHeader(headers, raw[at]!.toLowerCase(), raw[at + 1]!);
  return headers;
}
