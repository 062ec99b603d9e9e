import { Buffer } from "node:buffer";
import { statusOf } from "../refused-error.js";

/** A request with its whole body, as the webhook server passes it on. */
export interface WebRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  /** Called with whatever a handler throws, in addition to the response. */
  readonly onThrown?: (error: unknown) => void;
}

export interface WebAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export function jsonAnswer(status: number, value: unknown): WebAnswer {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

export function textAnswer(status: number, text: string): WebAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: `${text}\n` };
}

/** The error as a Status, with its own code if it has one. */
export function errorAnswer(error: unknown): WebAnswer {
  const status = statusOf(error);
  return jsonAnswer(status.code, status);
}

/** The request of a review, or the error response to a body that is not a review of that version. */
export function reviewRequest(request: WebRequest, apiVersion: string): Readonly<Record<string, unknown>> | WebAnswer {
  if (request.method !== "POST") return textAnswer(405, "method not allowed: POST the review");
  let review: unknown;
  try {
    review = JSON.parse(Buffer.from(request.body).toString("utf8"));
  } catch {
    return textAnswer(400, "the body is not JSON");
  }
  const { request: asked, apiVersion: sent = apiVersion } = (review ?? {}) as {
    request?: unknown;
    apiVersion?: unknown;
  };
  if (sent !== apiVersion)
    return textAnswer(400, `the review is of ${String(sent)}, but this server answers only ${apiVersion}`);
  if (typeof asked !== "object" || asked === null)
    return textAnswer(400, "the body is not a review: it has no request");
  return asked as Readonly<Record<string, unknown>>;
}

export function isAnswer(value: object): value is WebAnswer {
  return "status" in value && "body" in value;
}
