import type { Client } from "../client/client.js";
import { TokenReview } from "../kinds/builtin/authentication.k8s.io/v1.js";
import { SubjectAccessReview } from "../kinds/builtin/authorization.k8s.io/v1.js";
import type { Guard } from "./endpoint-server.js";

/** For a laptop: whoever is on this machine may look. */
export const loopbackOnly: Guard = async ({ isLoopback }) =>
  isLoopback ? undefined : { status: 403, body: "this endpoint answers on the loopback interface alone\n" };

/**
 * For a cluster: the caller's bearer token is reviewed by the API server, and its holder must be allowed to `get` the
 * path (a ClusterRole with `nonResourceURLs`), as kube-rbac-proxy would ask. Nothing is remembered: a right that was
 * taken away is gone at once.
 */
export function reviewedAccess(client: Client): Guard {
  return async ({ path, headers }) => {
    // An API server that proxies to a pod keeps `authorization` to itself.
    const given = headers["x-setpoint-authorization"] ?? headers.authorization;
    const token = /^Bearer (.+)$/i.exec(String(given ?? ""))?.[1];
    if (token === undefined) return { status: 401, body: "a bearer token is needed\n" };
    const { status: identity } = await client.create(TokenReview, { metadata: {}, spec: { token } });
    if (!identity?.authenticated) return { status: 401, body: "the token is not valid here\n" };
    const { username = "", groups = [], uid = "", extra } = identity.user ?? {};
    const spec = {
      user: username,
      groups,
      uid,
      ...(extra ? { extra } : {}),
      nonResourceAttributes: { path, verb: "get" },
    };
    const { status: access } = await client.create(SubjectAccessReview, { metadata: {}, spec });
    return access?.allowed ? undefined : { status: 403, body: `${username} may not get ${path}\n` };
  };
}
