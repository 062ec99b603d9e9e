import { callerOf } from "../../app/routes/caller.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { timeoutSignal } from "../../clock/timeout-signal.js";
import type { Guard } from "./endpoint-server.js";

/** An address, or the one name that means this machine for everybody: no DNS has a say in them. */
const OWN_HOST = /^(localhost|[\d.]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** What a browser says of a request that the page itself, or the person before it, has made. */
const OWN_SITE = new Set(["same-origin", "none"]);

/**
 * For a laptop: whoever is on this machine may look. A web page of another site may not: one that had its own name lead
 * here, to be let read the answer, says that name in `Host`; any other is told by the browser in `Sec-Fetch-Site`.
 */
export const loopbackOnly: Guard = async ({ isLoopback, headers }) => {
  if (!isLoopback) return { status: 403, body: "this endpoint answers only on the loopback interface\n" };
  const { host } = headers;
  if (host === undefined || !OWN_HOST.test(host)) {
    return {
      status: 403,
      body: "this endpoint answers only requests to localhost or an IP address, not to other names\n",
    };
  }
  const site = headers["sec-fetch-site"];
  if (site === undefined || OWN_SITE.has(String(site))) return undefined;
  return { status: 403, body: "this endpoint refuses requests from pages of other sites\n" };
};

/**
 * For whom a token must be made that comes through the API server's proxy: it passes through a pod, which must not be able
 * to use it for anything but this.
 */
const TIMELINE_AUDIENCE = "setpoint.dev/timeline";

/** Callers whose reviews are under way at once: they share the connection and the priority of the operator's own requests. */
const MAX_REVIEWS = 8;
/** How long the API server may take for the reviews of one caller. */
const REVIEW_MS = 10_000;
/** How long a token that is not valid is refused without asking again, and how many are known. */
const REFUSED_MS = 10_000;
const MAX_REFUSED = 1_000;

export interface ReviewOptions {
  readonly clock: Clock;
  /**
   * For whom a token must have been made: any of these. Where there are none: the API server, or `setpoint.dev/timeline`
   * where the token comes through the API server's proxy.
   */
  readonly audiences?: readonly string[];
}

/**
 * For a cluster: the caller's bearer token is reviewed by the API server, and its holder must be allowed to `get` the
 * path (a ClusterRole with `nonResourceURLs`), as kube-rbac-proxy would ask. No right is remembered: one that was taken away
 * is gone at once. That a token is not valid is, for some seconds, and only a few are reviewed at once: whoever reaches the
 * port must not be able to flood the API server through it. Rejects, and lets nobody in, where that cannot be asked.
 */
export function reviewedAccess(client: Client, { clock, audiences = [] }: ReviewOptions): Guard {
  /** By token and by whom it must be made for, as a hash: why it is refused, and until when. */
  const refused = new Map<string, { readonly body: string; readonly untilMs: number }>();
  let underWay = 0;
  return async ({ path, headers, signal }) => {
    // An API server that proxies to a pod keeps `authorization` to itself.
    const proxied = headers["x-setpoint-authorization"];
    const authorization = String(proxied ?? headers.authorization ?? "");
    const meant = proxied === undefined || audiences.length > 0 ? audiences : [TIMELINE_AUDIENCE];
    const id = process
      .getBuiltinModule("node:crypto")
      .createHash("sha256")
      .update(`${meant.join(" ")}\n${authorization}`)
      .digest("base64");
    const known = refused.get(id);
    if (known && known.untilMs > clock.monotonic()) return { status: 401, body: known.body };
    if (underWay >= MAX_REVIEWS) return { status: 503, body: "too many callers at once: try again\n" };
    underWay++;
    using deadline = timeoutSignal(clock, REVIEW_MS, signal);
    try {
      const caller = await callerOf(client, authorization, { signal: deadline.signal, audiences: meant });
      if (typeof caller === "string") {
        const body = `${caller}\n`;
        refused.delete(id);
        refused.set(id, { body, untilMs: clock.monotonic() + REFUSED_MS });
        if (refused.size > MAX_REFUSED) refused.delete(refused.keys().next().value!);
        return { status: 401, body };
      }
      const isAllowed = await caller.may({ nonResourceAttributes: { path, verb: "get" } });
      return isAllowed ? undefined : { status: 403, body: `${caller.name} may not get ${path}\n` };
    } finally {
      underWay--;
    }
  };
}
