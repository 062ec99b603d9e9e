import type { ApiResponse } from "../../api/api-request.js";
import { notAcceptable, unexpected } from "../../api/status-error.js";
import { isWebSocketRequest } from "../../websocket/handshake.js";
import type { ReadCall } from "../endpoint.js";
import { STREAMED_TYPES } from "../negotiation/accept.js";
import { JSON_HEADERS } from "../negotiation/answer.js";
import { metadataPresentation } from "../presentation/partial-metadata.js";
import { parseListOptions, unparsableResourceVersion } from "../query/list-options.js";
import { objectFilter } from "./object-filter.js";
import { presentationOf } from "./read-endpoints.js";
import { watch } from "./watch.js";
import { answerWebSocketWatch } from "./websocket-watch.js";

export async function watchObjects(call: ReadCall): Promise<ApiResponse> {
  const { definition, namespace, request, environment } = call;
  if (call.representation.mediaType === "application/yaml") throw notAcceptable(STREAMED_TYPES);
  // Watch one object as its collection with a field selector.
  const options = { ...parseListOptions(request.query), isWatch: true };
  const why = unparsableResourceVersion(options.resourceVersion);
  if (why !== undefined) throw unexpected(why);
  const fields =
    call.name === "" ? options.fieldSelector : [options.fieldSelector, `metadata.name=${call.name}`].join(",");
  const filter = objectFilter(definition, options.labelSelector, fields);
  const { as } = call.representation;
  const presentation =
    as !== undefined && as.kind !== "Table" ? metadataPresentation(as.version) : presentationOf(call, true);
  const body = await watch(environment, {
    definition,
    namespace,
    filter,
    options,
    presentation,
    signal: request.signal,
  });
  if (isWebSocketRequest(request)) return answerWebSocketWatch(request, body, environment.clock);
  return { status: 200, headers: JSON_HEADERS, body };
}
