import type { Buffer } from "node:buffer";
import { isUtf8 } from "node:buffer";
import { SetpointError } from "../errors/error.js";
import type { KubeObject } from "../kinds/object.js";
import { apiErrorOfEvent } from "./api-error.js";
import type { WatchEvent } from "./client.js";
import { type LineOptions, lines } from "./lines.js";
import { nameOfRequest, type RequestSummary } from "./request-summary.js";
import { startOf } from "./transport/body.js";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * The events of a watch's body. Rejects with an `ApiError` for an ERROR event, `STREAM_TRUNCATED` if the stream ends in
 * the middle of a line, and `RESPONSE_INVALID` for a line that is not an event. Does not catch errors of the reader.
 */
export async function* watchEvents<T extends KubeObject>(
  request: RequestSummary,
  body: AsyncIterable<Uint8Array>,
  options?: LineOptions,
): AsyncGenerator<WatchEvent<T>, void> {
  for await (const line of lines(body, options)) yield parseWatchEvent<T>(request, line);
}

/** Parses one line of a watch. Throws as {@link watchEvents} rejects. */
export function parseWatchEvent<T extends KubeObject>(request: RequestSummary, line: Buffer): WatchEvent<T> {
  const { type, object } = parseLine(request, line);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      if (!object?.metadata) throw noEvent(request, line, `${type} without an object`);
      return { type, object: object as T };
    case "BOOKMARK":
      if (!object?.metadata) throw noEvent(request, line, "BOOKMARK without an object");
      return {
        type,
        resourceVersion: object.metadata.resourceVersion,
        initialEventsEnd: object.metadata.annotations?.[INITIAL_EVENTS_END] === "true",
      };
    case "ERROR":
      throw apiErrorOfEvent(request, object);
    default:
      throw noEvent(request, line, `unknown type ${JSON.stringify(type)}`);
  }
}

function parseLine(request: RequestSummary, line: Buffer): { type?: unknown; object?: KubeObject } {
  let value: unknown;
  try {
    if (!isUtf8(line)) throw new SyntaxError("it is not UTF-8");
    value = JSON.parse(line.toString("utf8"));
  } catch (cause) {
    throw noEvent(request, line, "not JSON", cause);
  }
  if (typeof value !== "object" || value === null) throw noEvent(request, line, "not an object");
  return value;
}

function noEvent(request: RequestSummary, line: Buffer, problem: string, cause?: unknown): SetpointError {
  const message = `${nameOfRequest(request)}: a line is not a watch event (${problem}); it starts with: ${startOf(line)}`;
  return new SetpointError("RESPONSE_INVALID", message, cause ? { cause } : undefined);
}
