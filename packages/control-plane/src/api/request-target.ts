import type { ApiRequest } from "./api-request.js";
import { parseRequestInfo } from "./request-info.js";
import { StatusError } from "./status-error.js";

/** The method and the parsed target of a request, such as `/api/v1/pods?limit=5`. */
export type RequestTarget = Pick<ApiRequest, "method" | "path" | "query" | "info">;

/** Shared by all requests without a query, because queries are never changed. */
const NO_QUERY = new URLSearchParams();

/** Parses a target. Throws a `StatusError` if the percent-encoding of the path is invalid. */
export function parseTarget(method: string, target: string): RequestTarget {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? NO_QUERY : new URLSearchParams(target.slice(mark + 1));
  const decoded = path.includes("%") ? decodedPath(path) : path;
  return { method, path: decoded, query, info: parseRequestInfo(method, decoded, query) };
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new StatusError(400, "BadRequest", `the path ${path} is not valid percent-encoding`);
  }
}
