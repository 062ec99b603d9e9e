import type { ApiResponse } from "../../api/api-request.js";
import type { ReadCall } from "../endpoint.js";
import type { WriteSide } from "../write-side.js";
import { partsOf } from "./body-parts.js";
import type { BodyThreads } from "./body-threads.js";
import { isFinal, rehearsalOf, rehearsed } from "./rehearsal.js";
import { contentTypeOf, isYamlType, plainJson, textOf } from "./request-document.js";

type Request = ReadCall["request"];

/** A body with more values than this keeps the event loop for longer than others should wait. */
const MANY_PARTS = 20_000;
/** Protobuf shows its parts only to those who decode it. */
const LARGE_PROTOBUF_BYTES = 128 * 1024;
/** Reading YAML takes a hundred times as long as JSON: a node of three bytes takes ten microseconds. */
const LARGE_YAML_BYTES = 8 * 1024;
const MANY_YAML_PARTS = 500;
/** A body that is smaller is never large. */
const FEWEST_BYTES = MANY_YAML_PARTS;

/** Whether the body is so large, or of so many parts, that a thread is to look at it first. */
export function isLargeBody(request: Request): boolean {
  const { body } = request;
  if (body.byteLength < FEWEST_BYTES) return false;
  const type = contentTypeOf(request);
  if (type === "application/vnd.kubernetes.protobuf") return body.byteLength >= LARGE_PROTOBUF_BYTES;
  if (body.byteLength >= MANY_PARTS && partsOf(body, MANY_PARTS) >= MANY_PARTS) return true;
  return isYamlType(type) && isLargeYaml(body);
}

function isLargeYaml(body: Uint8Array): boolean {
  if (body.byteLength < LARGE_YAML_BYTES && partsOf(body, MANY_YAML_PARTS) < MANY_YAML_PARTS) return false;
  // JSON in a YAML body costs no more than JSON.
  return plainJson(textOf(body)) === undefined;
}

/**
 * Answers a write whose body is large. A thread tries it out first: what it refuses is refused with its words, and of
 * the rest the server reads what the thread has read, without what the kind does not know.
 */
export async function answerLarge(
  call: ReadCall,
  side: Pick<WriteSide, "isAdded">,
  threads: BodyThreads,
  write: (request: Request) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { request, definition, environment } = call;
  const flow = request.flow ?? "";
  const id = `${definition.group}/${definition.plural}`;
  const isOrdinary = call.subresource === undefined || !side.isAdded(`${id}/${call.subresource.name}`);
  if (!isOrdinary || request.method === "DELETE") {
    if (!isYamlType(contentTypeOf(request))) return write(request);
    const text = textOf(request.body);
    return plainJson(text) === undefined ? write({ ...request, yaml: await threads.read(text, flow) }) : write(request);
  }
  const end = await threads.rehearse(rehearsalOf(call, environment.storage, side.isAdded(id)), flow);
  if (request.pause) await request.pause();
  if (end === undefined) return write(request);
  if (end.type === "refused") {
    if (isFinal(end.response, environment.storage)) return end.response;
    return write(await rehearsed(request, { json: undefined, made: undefined, yaml: end.yaml }));
  }
  for (const warning of end.warnings) call.warn(warning);
  return write(await rehearsed(request, end));
}
