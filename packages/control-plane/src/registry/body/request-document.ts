import type { Tags } from "yaml";
import type { Facts } from "../../facts/facts.js";
import type { ApiRequest } from "../../http/api-request.js";
import { decodeProtobufBody } from "../../protobuf/request-body.js";
import { checkDepth } from "../../schema/depth.js";
import { goQuote } from "../../schema/go-format.js";
import { isObject, type Json, type JsonObject } from "../../schema/json.js";
import { duplicateKeys, isPlainText } from "../../schema/json-text.js";
import { yaml } from "../../yaml.js";
import { mediaTypesOf } from "../negotiation/accept.js";
import { badRequest, type StatusError, unsupportedMediaType } from "../status-error.js";
import { duplicateField, duplicateLines, type FieldFinding } from "./field-findings.js";
import { goSyntaxError } from "./json-syntax.js";
import { isTooDeepYaml, MAX_YAML_DEPTH } from "./yaml-depth.js";

/** A request body as data. */
export interface RequestDocument {
  readonly value: Json;
  /** The fields that the text names twice. */
  readonly duplicates: readonly FieldFinding[];
}

/** Bounds on what one document may hold, so that walking it stays cheap. */
const MAX_NODES = 1_000_000;
const SHOWN_BYTES = 30;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The media type of the body, without its parameters. JSON where the client does not say. */
export function contentTypeOf(request: ApiRequest): string {
  const header = request.headers["content-type"];
  if (header === "application/json") return header;
  const value = typeof header === "string" ? header : (header?.[0] ?? "");
  return value.split(";", 1)[0]!.trim().toLowerCase();
}

/** The object that a create or an update sends. */
export function readObject(
  request: ApiRequest,
  facts: Facts,
  expected: { readonly apiVersion: string; readonly kind: string; readonly isBuiltIn: boolean },
): { readonly object: JsonObject; readonly duplicates: readonly FieldFinding[] } {
  const type = contentTypeOf(request);
  if (type === "application/vnd.kubernetes.protobuf" && expected.isBuiltIn) {
    return { object: decodeProtobufBody(facts, request.body, expected), duplicates: [] };
  }
  if (type !== "" && type !== "application/json" && type !== "application/yaml") {
    throw unsupportedMediaType(mediaTypesOf(expected.isBuiltIn));
  }
  const refuse = (why: string): StatusError =>
    badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summary(request.body)})`,
    );
  const { value, duplicates } = readDocument(request.body, type === "application/yaml", refuse);
  if (isObject(value)) {
    // A custom resource says what it is; a built-in one may leave it to the path.
    if (!expected.isBuiltIn && !value.kind) {
      throw refuse(`Object 'Kind' is missing in '${decodeText(request.body)}'`);
    }
    return { object: value, duplicates };
  }
  if (value === null) return { object: {}, duplicates };
  throw refuse(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${TYPE_META}`,
  );
}

/** What Go reads of a document before it knows what that is. */
export const TYPE_META = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** Parses JSON or YAML; `refuse` words the answer to what is neither. */
export function readDocument(body: Uint8Array, isYaml: boolean, refuse: (why: string) => StatusError): RequestDocument {
  const text = decodeText(body);
  const refuseJson = (why: string): StatusError => refuse(`couldn't get version/kind; json parse error: ${why}`);
  if (!isYaml) return readJson(text, refuseJson);
  const document = readYaml(text, refuse);
  checkDepth(document.value, refuseJson);
  return document;
}

/** Bytes that are no UTF-8 become replacement characters, as in Go. */
function decodeText(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function readJson(text: string, refuse: (why: string) => StatusError): RequestDocument {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof RangeError) throw badRequest("exceeded max depth");
    throw refuse(goSyntaxError(text));
  }
  if (isPlainText(text, value)) return { value, duplicates: [] };
  checkDepth(value, refuse);
  return { value, duplicates: duplicateKeys(text, value).map(duplicateField) };
}

/** JSON is YAML, and parsed much faster; only what names a key twice has to be looked at line by line. */
function readYaml(text: string, refuse: (why: string) => StatusError): RequestDocument {
  const json = parsedJson(text);
  if (json !== undefined && duplicateKeys(text, json).length === 0) return { value: json, duplicates: [] };
  if (isTooDeepYaml(text)) throw refuse(`yaml: exceeded max depth of ${MAX_YAML_DEPTH}`);
  const { isNode, LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  const options = { lineCounter: lines, uniqueKeys: false, version: "1.1", merge: true, customTags: goTags } as const;
  const document = parseDocument(text, options);
  const [problem] = document.errors;
  if (problem !== undefined)
    throw refuse(`yaml: line ${problem.linePos?.[0].line ?? 1}: ${yamlProblem(problem.message, text)}`);
  const duplicates: string[] = [];
  let nodes = 0;
  visit(document, {
    Node: () => {
      if (++nodes > MAX_NODES) throw refuse("the document has too many nodes");
    },
    Map: (_key, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = String(key);
        const line = lines.linePos(isNode(key) ? (key.range?.[0] ?? 0) : 0).line;
        if (seen.has(name)) duplicates.push(`line ${line}: key ${goQuote(name)} already set in map`);
        seen.add(name);
      }
    },
  });
  // Aliases are bounded: a few bytes must not become gigabytes.
  const value = document.toJS({ maxAliasCount: 100, mapAsMap: false }) as Json;
  return { value: plain(value), duplicates: duplicateLines(duplicates) };
}

/** Go's YAML is 1.1 but for times: neither `1:30` nor `2026-01-01` is anything but text. */
function goTags(tags: Tags): Tags {
  return tags.filter((tag) => {
    if (typeof tag === "string") return tag !== "timestamp" && tag !== "intTime" && tag !== "floatTime";
    return tag.tag !== "tag:yaml.org,2002:timestamp" && !("format" in tag && tag.format === "TIME");
  });
}

/** The common mistakes in the words of Go's parser; the others in those of ours. */
function yamlProblem(message: string, text: string): string {
  if (/Flow .*end with a [}\]]/.test(message) && /[[{,:]\s*$/.test(text)) return "did not find expected node content";
  if (/Flow map.*end with a }/.test(message)) return "did not find expected ',' or '}'";
  if (/Flow sequence.*end with a ]/.test(message)) return "did not find expected ',' or ']'";
  if (/tab/i.test(message)) return "found character that cannot start any token";
  return message.split("\n", 1)[0]!.replace(/ at line \d+.*$/, "");
}

/** Dates and the like back to what JSON has. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json;
}

export function jsonTypeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** The start of a body, as the real server's errors show it. */
function summary(body: Uint8Array): string {
  if (body.byteLength === 0) return "<empty>";
  const start = Buffer.from(body.subarray(0, SHOWN_BYTES));
  const shown = body[0] === 0x7b ? start.toString("utf8") : start.toString("hex");
  return body.byteLength > SHOWN_BYTES ? `${shown} ...` : shown;
}
