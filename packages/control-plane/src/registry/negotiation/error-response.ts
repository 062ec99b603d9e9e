import type { ApiResponse, RequestHead } from "../../api/api-request.js";
import { StatusError } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { encodeStatus } from "../../protobuf/status-message.js";
import { headerOf } from "../endpoint.js";
import { asksForProtobuf, JSON_ANSWER, negotiateError, type Representation, wantsPretty } from "./accept.js";
import { answer, COMMON_HEADERS } from "./answer.js";

/** The endpoint of a request, and the representation that it would have answered in. */
export interface FoundEndpoint {
  readonly definition: ResourceDefinition;
  readonly representation: Representation;
}

/**
 * The one place that turns an error into a response, in the format that the request accepts. Throws anything that is
 * not a `StatusError`.
 */
export function errorResponse(error: unknown, request?: RequestHead, endpoint?: FoundEndpoint): ApiResponse {
  if (!(error instanceof StatusError)) throw error;
  if (request === undefined) return answerError(error, JSON_ANSWER);
  if (endpoint !== undefined && endpoint.representation.as === undefined) {
    return answerError(error, endpoint.representation);
  }
  const accept = headerOf(request, "accept");
  if (endpoint !== undefined) {
    return answerError(error, negotiateError(accept, endpoint.definition.isBuiltIn, endpoint.representation.isPretty));
  }
  if (error.status.code === 406 && asksForProtobuf(accept)) return answerProtobufError(error);
  const isPretty = wantsPretty(request.query.get("pretty"), headerOf(request, "user-agent"));
  return answerError(error, negotiateError(accept, true, isPretty));
}

function answerError(error: StatusError, representation: Representation): ApiResponse {
  const { status, continueToken } = error;
  const body = continueToken === undefined ? status : { ...status, metadata: { continue: continueToken } };
  const response = answer(status.code, body, {
    mediaType: representation.mediaType,
    isPretty: representation.isPretty,
  });
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter === undefined) return response;
  return { ...response, headers: { ...response.headers, "retry-after": String(retryAfter) } };
}

/** An error before negotiation, for a client that accepts only protobuf. */
function answerProtobufError({ status }: StatusError): ApiResponse {
  const headers = { ...COMMON_HEADERS, "content-type": "application/vnd.kubernetes.protobuf" };
  return { status: status.code, headers, body: encodeStatus(status) };
}
