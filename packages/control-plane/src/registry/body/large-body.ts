import type { ApiResponse } from "../../api/api-request.js";
import type { ReadCall } from "../endpoint.js";
import type { WriteSide } from "../write-side.js";
import { partsOf } from "./body-parts.js";
import type { BodyThreads } from "./body-threads.js";
import { isFinal, rehearsalOf, rehearsed } from "./rehearsal.js";
import { contentTypeOf, isYamlType, plainJson, textOf } from "./request-document.js";

type Request = ReadCall["request"];

/** A body with more values than this blocks the event loop for too long. */
const MANY_PARTS = 20_000;
/** Protobuf has no cheap count of values, so its size decides. */
const LARGE_PROTOBUF_BYTES = 128 * 1024;
/** YAML parses a hundred times slower than JSON: a three-byte node takes ten microseconds. */
const LARGE_YAML_BYTES = 8 * 1024;
const MANY_YAML_PARTS = 500;
/** A smaller body is never large. */
const FEWEST_BYTES = MANY_YAML_PARTS;

/** Whether a thread should read the body first, because of its size or number of values. */
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
  // A YAML body that is plain JSON parses as fast as JSON.
  return plainJson(textOf(body)) === undefined;
}

/**
 * Answers a write with a large body. A thread rehearses the write first. If the rehearsal rejects the write, the server
 * returns that error. Otherwise the server uses the object that the thread decoded and pruned.
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
