import type { ApiRequest } from "../../api/api-request.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { badRequest, type StatusError, unsupportedMediaType } from "../../api/status-error.js";
import type { Facts } from "../../facts/facts.js";
import { decodeProtobufBody } from "../../protobuf/request-body.js";
import { checkDepth } from "../../schema/depth.js";
import { goSyntaxError } from "../../schema/json-syntax.js";
import { duplicateKeys, isPlainText } from "../../schema/json-text.js";
import { mediaTypesOf } from "../negotiation/accept.js";
import { duplicateField, duplicateLines, type FieldFinding } from "./field-findings.js";
import { readYamlText, type YamlReading } from "./yaml-text.js";

/** A request body as data. */
export interface RequestDocument {
  readonly value: Json;
  /** Fields that the text sets twice. */
  readonly duplicates: readonly FieldFinding[];
}

const SHOWN_BYTES = 30;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The media type of the body, without parameters. Empty if the client sends none. */
export function contentTypeOf(request: ApiRequest): string {
  const header = request.headers["content-type"];
  if (header === "application/json") return header;
  const value = typeof header === "string" ? header : (header?.[0] ?? "");
  return value.split(";", 1)[0]!.trim().toLowerCase();
}

/** Decodes the object of a create or update. */
export function readObject(
  request: ApiRequest & YamlRequest,
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
  const { value, duplicates } = readDocument(request, type === "application/yaml", refuse);
  if (isObject(value)) {
    // A custom resource must set its kind; a built-in one takes it from the path.
    if (!expected.isBuiltIn && !value.kind) {
      throw refuse(`Object 'Kind' is missing in '${textOf(request.body)}'`);
    }
    return { object: value, duplicates };
  }
  if (value === null) return { object: {}, duplicates };
  throw refuse(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${TYPE_META}`,
  );
}

/** The Go type that the real server decodes first to find the kind. */
export const TYPE_META = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** Parses JSON or YAML. `refuse` makes the error for any other text. */
export function readDocument(
  request: YamlRequest,
  isYaml: boolean,
  refuse: (why: string) => StatusError,
): RequestDocument {
  const refuseJson = (why: string): StatusError => refuse(`couldn't get version/kind; json parse error: ${why}`);
  if (!isYaml) return readJson(textOf(request.body), refuseJson);
  const document = readYaml(request, refuse);
  checkDepth(document.value, refuseJson);
  return document;
}

/** Invalid UTF-8 becomes replacement characters, as in Go. */
export function textOf(body: Uint8Array): string {
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

/** JSON is valid YAML and parses much faster. Only a text with duplicate keys needs the YAML parser. */
function readYaml({ body, yaml }: YamlRequest, refuse: (why: string) => StatusError): RequestDocument {
  if (yaml === undefined) {
    const text = textOf(body);
    const json = plainJson(text);
    return json === undefined ? documentOf(readYamlText(text), refuse) : { value: json, duplicates: [] };
  }
  return documentOf(yaml, refuse);
}

function documentOf(reading: YamlReading, refuse: (why: string) => StatusError): RequestDocument {
  if (reading.type === "refused") throw refuse(reading.why);
  return { value: JSON.parse(reading.json) as Json, duplicates: duplicateLines(reading.duplicates) };
}

/** The value of a JSON text without duplicate keys. */
export function plainJson(text: string): Json | undefined {
  const value = parsedJson(text);
  return value !== undefined && duplicateKeys(text, value).length === 0 ? value : undefined;
}

/** A YAML body, with its parsed form if a thread has parsed it. */
export interface YamlRequest {
  readonly body: Uint8Array;
  readonly yaml?: YamlReading;
}

export function isYamlType(type: string): boolean {
  return type === "application/yaml" || type === "application/apply-patch+yaml";
}

/** Parses a YAML body. Undefined if it is plain JSON, which needs no YAML parser. */
export function largeYaml({ body }: YamlRequest): YamlReading | undefined {
  const text = textOf(body);
  return plainJson(text) === undefined ? readYamlText(text) : undefined;
}

export function jsonTypeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** The start of a body, as error messages of the real server show it. */
function summary(body: Uint8Array): string {
  if (body.byteLength === 0) return "<empty>";
  const start = Buffer.from(body.subarray(0, SHOWN_BYTES));
  const shown = body[0] === 0x7b ? start.toString("utf8") : start.toString("hex");
  return body.byteLength > SHOWN_BYTES ? `${shown} ...` : shown;
}
