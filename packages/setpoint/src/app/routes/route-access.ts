import type { Client } from "../../client/client.js";
import { ownField } from "../../kinds/own-field.js";
import { RefusedError } from "../refused-error.js";
import { callerOf } from "./caller.js";
import { findRoute, type Route } from "./route.js";
import { errorAnswer, type WebAnswer, type WebRequest } from "./web-message.js";

/** The response for a caller who may not call a route; undefined for one who may. */
export type RouteGuard = (routes: readonly Route[], request: WebRequest) => Promise<WebAnswer | undefined>;

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/**
 * The API server reviews the caller's bearer token. The user must have the verb on the resource, with the route's path
 * as subresource (`orders/total`), or on the path alone (`stats`) for a route of a version. Nothing is cached, so a
 * revoked right takes effect at once.
 */
export function reviewedRoutes(client: Client): RouteGuard {
  return async (routes, request) => {
    try {
      const refusal = await refusalOf(client, routes, request);
      return refusal && errorAnswer(refusal);
    } catch (error) {
      // Our own RBAC failure; do not blame the caller.
      request.onThrown?.(error);
      return errorAnswer(new Error("could not authenticate or authorize the caller"));
    }
  };
}

async function refusalOf(
  client: Client,
  routes: readonly Route[],
  request: WebRequest,
): Promise<RefusedError | undefined> {
  const found = findRoute(routes, request);
  if (!found) return undefined;
  const caller = await callerOf(client, request.headers.authorization, { signal: request.signal });
  if (typeof caller === "string") return new RefusedError(401, "Unauthorized", caller);
  const { group, version, plural, path, method } = found.route;
  const resourceAttributes = {
    group,
    version,
    verb: ownField(VERBS, method) ?? method.toLowerCase(),
    ...(plural ? { resource: plural, subresource: path } : { resource: path }),
    ...(found.request.namespace ? { namespace: found.request.namespace } : {}),
    ...(found.request.name ? { name: found.request.name } : {}),
  };
  if (await caller.may({ resourceAttributes })) return undefined;
  return new RefusedError(403, "Forbidden", `${caller.name} may not ${method} ${request.path}`);
}
