import { callerOf } from "../app/caller.js";
import type { Client } from "../client/client.js";
import type { Guard } from "./endpoint-server.js";

/** An address, or the one name that means this machine for everybody: no DNS has a say in them. */
const OWN_HOST = /^(localhost|[\d.]+|\[[\da-f:.]+\])(:\d+)?$/i;

/**
 * For a laptop: whoever is on this machine may look. A web page is not: one that had its own name lead here, to be let read
 * the answer, says that name.
 */
export const loopbackOnly: Guard = async ({ isLoopback, headers: { host } }) => {
  if (!isLoopback) return { status: 403, body: "this endpoint answers on the loopback interface alone\n" };
  if (host === undefined || OWN_HOST.test(host)) return undefined;
  return { status: 403, body: "this endpoint answers to localhost and addresses alone, not to other names\n" };
};

/**
 * For a cluster: the caller's bearer token is reviewed by the API server, and its holder must be allowed to `get` the
 * path (a ClusterRole with `nonResourceURLs`), as kube-rbac-proxy would ask. Nothing is remembered: a right that was
 * taken away is gone at once.
 */
export function reviewedAccess(client: Client): Guard {
  return async ({ path, headers }) => {
    // An API server that proxies to a pod keeps `authorization` to itself.
    const caller = await callerOf(client, headers["x-setpoint-authorization"] ?? headers.authorization);
    if (typeof caller === "string") return { status: 401, body: `${caller}\n` };
    const isAllowed = await caller.may({ nonResourceAttributes: { path, verb: "get" } });
    return isAllowed ? undefined : { status: 403, body: `${caller.name} may not get ${path}\n` };
  };
}
