import type { ApiHandler } from "../../api/api-request.js";
import { parseTarget } from "../../api/request-target.js";
import type { Status } from "../../api/status-error.js";

/** A request of the control plane to itself, as administrator. */
export interface PlaneCall {
  readonly method: "POST" | "PUT" | "PATCH";
  /** Path and query. */
  readonly target: string;
  readonly body: object;
  readonly contentType?: string;
  /** Becomes the field manager if the query names none. */
  readonly userAgent: string;
}

/** Resolves with the status code, and the Status object of an error. */
export async function callPlane(
  handler: ApiHandler,
  { method, target, body, contentType = "application/json", userAgent }: PlaneCall,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly refusal: Status | undefined }> {
  const response = await handler({
    ...parseTarget(method, target),
    headers: { "content-type": contentType, "user-agent": userAgent },
    body: Buffer.from(JSON.stringify(body)),
    isInProcess: true,
    signal,
  });
  if (response.status < 400) return { status: response.status, refusal: undefined };
  const text = Buffer.from(response.body as Uint8Array).toString("utf8");
  return { status: response.status, refusal: JSON.parse(text) as Status };
}
