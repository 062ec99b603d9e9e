import { isLoopbackHost } from "../../client/cluster/loopback.js";
import { SetpointError } from "../../errors/error.js";
import type { ServerPlace } from "./server-place.js";
import { processOwner } from "./webhook-owner.js";

/** Where the API server finds the webhooks. */
export interface WebhookPlace {
  /** A URL that the API server can reach: of a tunnel, a load balancer, this machine. */
  readonly url?: string;
  /** The Service in front of the pods of this process. */
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number };
}

/** How a webhook configuration names one path of the server. */
export interface WebhookTarget {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly port: number;
    readonly path: string;
  };
}

/** Where to listen, which hosts the certificate must name, and how the API server reaches a path. */
export interface WebhookAddress {
  /** Empty for all addresses of both families, because a pod may have only IPv6. */
  readonly host: string;
  readonly hosts: readonly string[];
  /** The address ends with this process, so its configurations must be removed too. */
  readonly isLocal: boolean;
  /** Only this machine can reach it: no tunnel, Service or sidecar forwards other requests. */
  readonly isPrivate: boolean;
  /**
   * Marks what was installed for this address: the Service, the URL, or the process and its machine. A later process at
   * the same place is the same owner.
   */
  readonly owner: string;
  /** The path prefix of callers, unless a proxy removes it: `/hooks`, or empty. */
  readonly prefix: string;
  target(path: string, port: number): WebhookTarget;
}

/**
 * Decides how an API server reaches this process: by the given Service or URL; otherwise by loopback, if both are on
 * one machine. Throws `WEBHOOK_UNREACHABLE` if neither works.
 */
export function webhookAddress(server: string, { service, url }: WebhookPlace, serverAt: ServerPlace): WebhookAddress {
  if (service) {
    const { namespace, name, port = 443 } = service;
    const dns = `${name}.${namespace}.svc`;
    return {
      host: "",
      hosts: [dns, `${dns}.cluster.local`],
      isLocal: false,
      isPrivate: false,
      owner: `service ${namespace}/${name}`,
      prefix: "",
      target: (path) => ({ service: { namespace, name, port, path } }),
    };
  }
  if (url) {
    const { protocol, hostname, origin, pathname } = new URL(url);
    if (protocol !== "https:") throw unreachable(`API servers call webhooks over https, not at ${url}`);
    const host = hostname.replace(/^\[|\]$/g, "");
    const prefix = pathname.replace(/\/$/, "");
    return {
      host: isLoopbackHost(host) ? host : "",
      hosts: [host],
      isLocal: true,
      isPrivate: false,
      owner: `url ${origin}${prefix}`,
      prefix,
      target: (path) => ({ url: `${origin}${prefix}${path}` }),
    };
  }
  if (serverAt.type === "elsewhere") {
    const said = serverAt.addresses.length > 0 ? ` (it gives its address as ${serverAt.addresses.join(", ")})` : "";
    throw unreachable(
      `the API server ${server} is not on this machine${said}, so it cannot call webhooks in this process: ` +
        "give a url that it can reach, or run in the cluster and name the service",
    );
  }
  return {
    host: "127.0.0.1",
    hosts: ["127.0.0.1", "localhost"],
    isLocal: true,
    isPrivate: true,
    owner: processOwner(),
    prefix: "",
    target: (path, port) => ({ url: `https://127.0.0.1:${port}${path}` }),
  };
}

function unreachable(message: string): SetpointError {
  return new SetpointError("WEBHOOK_UNREACHABLE", message);
}
