import { callerOf } from "../../app/routes/caller.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { timeoutSignal } from "../../clock/timeout-signal.js";
import type { Guard } from "./endpoint-server.js";

/** An address, or `localhost`: DNS cannot redirect these. */
const OWN_HOST = /^(localhost|[\d.]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** The values that browsers send for requests of the page itself or of the user. */
const OWN_SITE = new Set(["same-origin", "none"]);

/**
 * For a laptop: everybody on this machine may read. A web page of another site may not. If it uses DNS rebinding to
 * read the response, its name is in `Host`; otherwise the browser says so in `Sec-Fetch-Site`.
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
 * The audience of tokens that come through the API server's proxy: these pass through a pod, which must not be able to
 * use them for anything else.
 */
const TIMELINE_AUDIENCE = "setpoint.dev/timeline";

/** How many callers to review at once: reviews share the connection and priority of the operator's own requests. */
const MAX_REVIEWS = 8;
/** How long the API server may take for the reviews of one caller. */
const REVIEW_MS = 10_000;
/** How long to refuse an invalid token without asking again, and how many to remember. */
const REFUSED_MS = 10_000;
const MAX_REFUSED = 1_000;

export interface ReviewOptions {
  readonly clock: Clock;
  /**
   * The accepted audiences of tokens. Without any: the API server's own, or `setpoint.dev/timeline` for tokens that
   * come through the API server's proxy.
   */
  readonly audiences?: readonly string[];
}

/**
 * For a cluster: the API server reviews the caller's bearer token, and the user must be allowed to `get` the path (a
 * ClusterRole with `nonResourceURLs`), as with kube-rbac-proxy. Permissions are not cached, so a revoked one takes
 * effect at once. Invalid tokens are cached for some seconds, and few reviews run at once, so that callers cannot flood
 * the API server. If the API server does not answer, rejects and admits nobody.
 */
export function reviewedAccess(client: Client, { clock, audiences = [] }: ReviewOptions): Guard {
  /** By hash of token and audiences: why it is refused, and until when. */
  const refused = new Map<string, { readonly body: string; readonly untilMs: number }>();
  let underWay = 0;
  return async ({ path, headers, signal }) => {
    // An API server that proxies to a pod does not forward `authorization`.
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
