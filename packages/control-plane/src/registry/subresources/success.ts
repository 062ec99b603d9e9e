import type { ApiResponse } from "../../api/api-request.js";
import type { ResourceCall } from "../endpoint.js";
import { answer } from "../negotiation/answer.js";

/** The response of a create on a subresource that has no object to return. */
export function created({ representation }: ResourceCall): ApiResponse {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return answer(201, body, representation);
}
