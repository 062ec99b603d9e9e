import type { Client } from "../client/client.js";
import { TokenReview } from "../kinds/builtin/authentication.k8s.io/v1.js";
import { SubjectAccessReview } from "../kinds/builtin/authorization.k8s.io/v1.js";
import { RefusedError } from "./refused-error.js";
import { findRoute, type Route } from "./route.js";
import { errorAnswer, type WebAnswer, type WebRequest } from "./web-message.js";

/** Says who may not call a route, as the answer that they get; undefined for those who may. */
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
 * The caller's bearer token is reviewed by the API server, and its holder must be allowed the verb on the resource, with
 * the route's path as subresource (`orders/total`); the path alone (`stats`) for a route of a version. Nothing is
 * remembered: a right that was taken away is gone at once.
 */
export function reviewedRoutes(client: Client): RouteGuard {
  return async (routes, request) => {
    const found = findRoute(routes, request);
    if (!found) return undefined;
    const token = /^Bearer (.+)$/i.exec(String(request.headers.authorization ?? ""))?.[1];
    const unauthorized = (why: string): WebAnswer => errorAnswer(new RefusedError(401, "Unauthorized", why));
    if (token === undefined) return unauthorized("a bearer token is needed");
    const { signal } = request;
    const { status: identity } = await client.create(TokenReview, { metadata: {}, spec: { token } }, { signal });
    if (!identity?.authenticated) return unauthorized("the token is not valid here");
    const { username = "", groups = [], uid = "", extra } = identity.user ?? {};
    const { group, version, plural, path, method } = found.route;
    const resourceAttributes = {
      group,
      version,
      verb: VERBS[method] ?? method.toLowerCase(),
      ...(plural ? { resource: plural, subresource: path } : { resource: path }),
      ...(found.request.namespace ? { namespace: found.request.namespace } : {}),
      ...(found.request.name ? { name: found.request.name } : {}),
    };
    const spec = { user: username, groups, uid, ...(extra ? { extra } : {}), resourceAttributes };
    const { status: access } = await client.create(SubjectAccessReview, { metadata: {}, spec }, { signal });
    if (access?.allowed) return undefined;
    return errorAnswer(new RefusedError(403, "Forbidden", `${username} may not ${method} ${request.path}`));
  };
}
