import { StatusError } from "../api/status-error.js";

/** `/api/v1/pods?limit=5`, taken apart. */
export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Shared by all requests without one: nobody changes a query. */
const NO_QUERY = new URLSearchParams();

/** Throws a `StatusError` for a path whose percent-encoding is broken. */
export function parseTarget(target: string): RequestTarget {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? NO_QUERY : new URLSearchParams(target.slice(mark + 1));
  if (!path.includes("%")) return { path, query };
  try {
    return { path: decodeURIComponent(path), query };
  } catch {
    throw new StatusError(400, "BadRequest", `the path ${path} is not valid percent-encoding`);
  }
}
