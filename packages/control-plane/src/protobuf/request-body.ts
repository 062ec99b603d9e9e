import { goQuote } from "../api/go-format.js";
import type { JsonObject } from "../api/json.js";
import { badRequest, type StatusError } from "../api/status-error.js";
import type { Facts } from "../facts/facts.js";
import { decodeMessage } from "./message-decoder.js";
import { ProtobufError, WireReader } from "./wire-reader.js";

const MAGIC = [0x6b, 0x38, 0x73, 0x00];
/** How many bytes of an invalid body an error shows. */
const SHOWN_BYTES = 30;

export interface ExpectedKind {
  /** `v1`, `apps/v1` */
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Decodes a protobuf request body (`application/vnd.kubernetes.protobuf`) into the object that the same Go client
 * would have sent as JSON. `expected` is the kind of the endpoint, used if the body names none. A body that names
 * another built-in kind is decoded as that kind.
 *
 * Throws kube-apiserver's 400 for an invalid body. The result is never larger than a small multiple of the body.
 */
export function decodeProtobufBody(facts: Facts, body: Uint8Array, expected: ExpectedKind): JsonObject {
  const envelope = readEnvelope(body, expected);
  const kind = envelope.kind || expected.kind;
  const apiVersion = envelope.apiVersion || expected.apiVersion;
  const version = apiVersion.slice(apiVersion.lastIndexOf("/") + 1);
  const refuse = (why: string): StatusError =>
    badRequest(`${kind} in version ${goQuote(version)} cannot be handled as a ${expected.kind}: ${why}`);
  const message = facts.messageOf(apiVersion, kind);
  if (!message) {
    throw refuse(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  try {
    return { kind, apiVersion, ...decodeMessage(message, envelope.raw) };
  } catch (error) {
    if (error instanceof ProtobufError) throw refuse(error.message);
    throw error;
  }
}

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/** Reads the magic prefix and `runtime.Unknown`. */
function readEnvelope(body: Uint8Array, expected: ExpectedKind): Envelope {
  try {
    if (body.length === 0) throw new ProtobufError("empty data");
    if (body.length < MAGIC.length || MAGIC.some((byte, at) => body[at] !== byte)) {
      const prefix = MAGIC.join(" ");
      throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix [${prefix}]`);
    }
    if (body.length === MAGIC.length) throw new ProtobufError("empty body");
    return readUnknown(body.subarray(MAGIC.length));
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${error.message} (${summary(body)})`,
    );
  }
}

const UNKNOWN_FIELDS = ["", "TypeMeta", "Raw", "ContentEncoding", "ContentType"];

function readUnknown(bytes: Uint8Array): Envelope {
  const reader = new WireReader(bytes);
  let names: readonly string[] = ["", ""];
  let raw: Uint8Array = new Uint8Array();
  while (reader.next(() => "Unknown")) {
    const { number, wireType } = reader;
    const field = UNKNOWN_FIELDS[number];
    if (field === undefined) {
      reader.skip(wireType);
      continue;
    }
    if (wireType !== 2) throw new ProtobufError(`proto: wrong wireType = ${wireType} for field ${field}`);
    const value = reader.bytes();
    if (number === 1) names = readTypeMeta(value);
    else if (number === 2) raw = value;
  }
  return { apiVersion: names[0]!, kind: names[1]!, raw };
}

function readTypeMeta(bytes: Uint8Array): readonly [apiVersion: string, kind: string] {
  const reader = new WireReader(bytes);
  const names: [string, string] = ["", ""];
  while (reader.next(() => "TypeMeta")) {
    const { number, wireType } = reader;
    if (number !== 1 && number !== 2) {
      reader.skip(wireType);
      continue;
    }
    const field = number === 1 ? "APIVersion" : "Kind";
    if (wireType !== 2) throw new ProtobufError(`proto: wrong wireType = ${wireType} for field ${field}`);
    names[number - 1] = reader.string();
  }
  return names;
}

/** The start of a body, as kube-apiserver's errors show it. */
function summary(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const start = Buffer.from(body.subarray(0, SHOWN_BYTES));
  const shown = body[0] === 0x7b ? start.toString("utf8") : start.toString("hex");
  return body.length > SHOWN_BYTES ? `${shown} ...` : shown;
}
