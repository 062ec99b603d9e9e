import type { KubeObject } from "setpoint";
import type { ApiResponse } from "../../api/api-request.js";
import { badRequest, notFound, StatusError, unexpected } from "../../api/status-error.js";
import { headerOf, type ReadCall } from "../endpoint.js";
import { answer, answerBytes, JSON_HEADERS } from "../negotiation/answer.js";
import { metadataPresentation } from "../presentation/partial-metadata.js";
import { plainPresentation } from "../presentation/plain.js";
import type { Presentation } from "../presentation/presentation.js";
import { type IncludeObject, tablePresentation } from "../presentation/table.js";
import { type ListOptions, parseListOptions, unparsableResourceVersion } from "../query/list-options.js";
import { storageKey } from "../write/write-request.js";
import { atLeast, type ListPage, list } from "./list.js";
import { objectFilter } from "./object-filter.js";
import type { ServedObject } from "./served-form.js";

/** The presentation that this call requests. */
export function presentationOf(call: ReadCall, isList: boolean): Presentation {
  const { definition, representation, request, environment } = call;
  const { as } = representation;
  if (as === undefined) return plainPresentation(definition);
  if (as.kind === "Table") {
    const includeObject = includeObjectOf(request.query);
    return tablePresentation(definition, as.version, includeObject, () => environment.clock.now());
  }
  if (isList !== (as.kind === "PartialObjectMetadataList")) {
    const what = isList ? "is a list" : "is not a list";
    const goType = definition.isBuiltIn
      ? `*core.${definition.kind}${isList ? "List" : ""}`
      : "*unstructured.Unstructured";
    throw new StatusError(
      406,
      "NotAcceptable",
      `you requested ${as.kind}, but the requested object ${what} (${goType})`,
    );
  }
  return metadataPresentation(as.version);
}

function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get("includeObject") ?? "";
  if (value === "") return "Metadata";
  if (value === "Metadata" || value === "Object" || value === "None") return value;
  const why = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}

export function presentObject(call: ReadCall, status: number, object: ServedObject): ApiResponse {
  const presentation = presentationOf(call, false);
  return answerBytes(status, presentation.single(object), call.representation);
}

/** Like {@link presentObject}, for an object that is not stored. */
export function presentMade(call: ReadCall, status: number, object: object): ApiResponse {
  const { representation } = call;
  if (representation.as === undefined) return answer(status, object, representation);
  return presentObject(call, status, { object: object as KubeObject, json: new Uint8Array() });
}

export async function getObject(call: ReadCall): Promise<ApiResponse> {
  return presentObject(call, 200, await readObjectOf(call));
}

/** Reads the object of a call, at least at the requested resourceVersion. */
export async function readObjectOf(call: ReadCall): Promise<ServedObject> {
  const { definition, namespace, name, request, environment } = call;
  const { storage, clock } = environment;
  const version = request.query.get("resourceVersion") ?? "";
  const why = unparsableResourceVersion(version);
  if (why !== undefined) throw unexpected(why);
  if (version !== "") await atLeast(storage, clock, Number(version), request.signal);
  const stored = storage.get(definition.storageId, storageKey(namespace, name));
  if (stored === undefined) throw notFound({ group: definition.group, resource: definition.plural }, name);
  return environment.forms.served(stored, definition, request.signal);
}

export async function listObjects(call: ReadCall): Promise<ApiResponse> {
  const { request } = call;
  const options = parseListOptions(request.query);
  const presentation = presentationOf(call, true);
  const page = await listPage(call, options);
  return listAnswer(call, presentation, page);
}

export function listPage(call: ReadCall, options: ListOptions): Promise<ListPage> {
  const { definition, namespace, request, environment } = call;
  const filter = objectFilter(definition, options.labelSelector, options.fieldSelector);
  return list(environment, {
    definition,
    namespace,
    filter,
    options,
    signal: request.signal,
  });
}

/** Lists with at least this many items are streamed. */
const STREAMED_ITEMS = 500;
const PIECE_BYTES = 256 * 1024;

export function listAnswer(call: ReadCall, presentation: Presentation, page: ListPage): ApiResponse {
  const { representation } = call;
  const pieces = presentation.list(page.metadata, page.items);
  const isPlain = representation.mediaType === "application/json" && !representation.isPretty;
  if (!isPlain || page.items.length < STREAMED_ITEMS) {
    return answerBytes(200, Buffer.concat([...pieces]), representation);
  }
  return { status: 200, headers: JSON_HEADERS, body: inPieces(pieces) };
}

async function* inPieces(parts: Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    waiting.push(part);
    bytes += part.byteLength;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  yield Buffer.concat([...waiting, Buffer.from("\n")]);
}

export function userAgentOf(call: ReadCall): string | undefined {
  return headerOf(call.request, "user-agent");
}
