import type { ApiResponse } from "../../api/api-request.js";
import type { ResourceCall } from "../endpoint.js";
import { answer } from "../negotiation/answer.js";

/** What a create on a subresource answers that has nothing to show. */
export function created({ representation }: ResourceCall): ApiResponse {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return answer(201, body, representation);
}
