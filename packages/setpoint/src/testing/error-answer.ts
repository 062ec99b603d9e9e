import type { TransportResponse } from "../client/transport/transport.js";

/** An error response of an API server, for {@link RequestFault}: `errorAnswer(409, "Conflict")`. */
export function errorAnswer(code: number, reason: string, message = `injected: ${reason}`): TransportResponse {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code,
    reason,
    message,
    details: {},
  };
  return {
    status: code,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield Buffer.from(JSON.stringify(status));
    })(),
  };
}
