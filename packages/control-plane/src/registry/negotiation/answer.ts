import type { ApiResponse } from "../../api/api-request.js";
import type { Warnings } from "../../api/error-budget.js";
import { yaml } from "../../api/yaml.js";
import { MAX_YAML_DEPTH } from "../body/yaml-depth.js";
import { JSON_ANSWER, type Representation } from "./accept.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NEWLINE = 0x0a;
/** A longer response is written as JSON even if the client asked for YAML. */
const MOST_YAML_CHARACTERS = 256 * 1024;

export const COMMON_HEADERS: Readonly<Record<string, string>> = { "cache-control": "no-cache, private" };

/** Shared by all JSON responses, so that the headers are formatted once. */
export const JSON_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON_HEADERS,
  "content-type": "application/json",
};

/** Encodes a value in the negotiated representation. */
export function answer(status: number, value: unknown, representation: Representation = JSON_ANSWER): ApiResponse {
  const { mediaType, isPretty } = representation;
  const headers = { ...COMMON_HEADERS, "content-type": mediaType };
  if (mediaType === "application/yaml") return { status, headers, body: encoder.encode(toYaml(value)) };
  const text = isPretty ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`;
  return { status, headers, body: encoder.encode(text) };
}

/** Answers with JSON bytes, such as those that the storage keeps, without encoding them again. */
export function answerBytes(
  status: number,
  json: Uint8Array,
  representation: Representation = JSON_ANSWER,
): ApiResponse {
  if (representation.mediaType !== "application/json" || representation.isPretty) {
    return answer(status, JSON.parse(decoder.decode(json)), representation);
  }
  const body = Buffer.allocUnsafe(json.byteLength + 1);
  body.set(json);
  body[json.byteLength] = NEWLINE;
  return { status, headers: JSON_HEADERS, body };
}

/** YAML as the real server writes it: sorted keys, quotes only where needed. */
function toYaml(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON is valid YAML. The YAML writer is slow and uses much stack per level. One large or deep object must not fail a
  // list or block other requests.
  if (json.length > MOST_YAML_CHARACTERS || nestsDeeper(json, MAX_YAML_DEPTH)) return `${json}\n`;
  const text = yaml().stringify(value, { sortMapEntries: true, lineWidth: 0, indentSeq: false, version: "1.1" });
  return text.replace(/^( *)"\.": /gm, "$1.: ");
}

/** Whether brackets outside of strings nest deeper than `most`. */
function nestsDeeper(json: string, most: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (isText) {
      if (character === 0x5c) at++;
      else if (character === 0x22) isText = false;
    } else if (character === 0x22) isText = true;
    else if (character === 0x7b || character === 0x5b) {
      if (++depth > most) return true;
    } else if (character === 0x7d || character === 0x5d) depth--;
  }
  return false;
}

export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      ...headers,
    },
    body: encoder.encode(body),
  };
}

/** The response for a path that nothing serves. */
export function pageNotFound(): ApiResponse {
  return text(404, "404 page not found\n");
}

/** Adds a `Warning` header for each text. */
export function withWarnings(response: ApiResponse, warnings: Warnings): ApiResponse {
  const { texts } = warnings;
  if (texts.length === 0) return response;
  // A quoted-string of RFC 7230 in UTF-8: Node writes each character of a header as one byte.
  const values = texts.map((text) => Buffer.from(`299 - "${text.replace(/["\\]/g, "\\$&")}"`).toString("latin1"));
  return { ...response, headers: { ...response.headers, warning: values } };
}
