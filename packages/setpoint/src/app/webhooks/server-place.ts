import { isApiError } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { isLoopbackHost } from "../../client/cluster/loopback.js";
import { parseServer } from "../../client/cluster/server-address.js";
import { EndpointSlice } from "../../kinds/builtin/discovery.k8s.io/v1.js";

/** Where an API server says that it listens. */
export interface AdvertisedServer {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

/**
 * Whether an API server can call what listens on this machine's loopback: `here`, or `elsewhere`, with the addresses that
 * it gives. It is `unsure` where these are of another machine and its port the one that was connected to: the port of a
 * virtual machine may be forwarded as it is, but a laptop that has changed networks looks the same.
 */
export type ServerPlace =
  | { readonly type: "here" }
  | { readonly type: "elsewhere" | "unsure"; readonly addresses: readonly string[] };

/** Asks the server only where its address leaves the place open. */
export async function findServer(client: Client): Promise<ServerPlace> {
  const byUrl = serverPlace(client.server, undefined, []);
  if (byUrl.type !== "here" || !URL.canParse(client.server)) return byUrl;
  return serverPlace(client.server, await advertisedServer(client), ownAddresses());
}

/** The endpoints of the Service `kubernetes`, which API servers keep themselves. Undefined where a client cannot see them. */
async function advertisedServer(client: Client): Promise<AdvertisedServer | undefined> {
  try {
    const { endpoints, ports } = await client.get(EndpointSlice, "kubernetes", { namespace: "default" });
    return {
      addresses: (endpoints ?? []).flatMap(({ addresses }) => addresses),
      ports: (ports ?? []).flatMap(({ port }) => port ?? []),
    };
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}

/**
 * Decides by what a client connects to, what the server says of itself, and the addresses of this machine. A loopback
 * alone says little: kind, minikube and ssh tunnels forward a port of it.
 */
export function serverPlace(
  server: string,
  advertised: AdvertisedServer | undefined,
  ownAddresses: readonly string[],
): ServerPlace {
  // The embedded control plane of this process names no URL.
  if (!URL.canParse(server)) return { type: "here" };
  const { host, port } = parseServer(server);
  if (!isLoopbackHost(host)) return { type: "elsewhere", addresses: [] };
  const { addresses = [], ports = [] } = advertised ?? {};
  if (addresses.length === 0 || addresses.some((each) => ownAddresses.includes(each))) return { type: "here" };
  return { type: ports.includes(port) ? "unsure" : "elsewhere", addresses };
}

/** The addresses of this machine's interfaces, loopback among them. */
function ownAddresses(): readonly string[] {
  const interfaces = Object.values(process.getBuiltinModule("node:os").networkInterfaces());
  return interfaces.flatMap((each) => each ?? []).map(({ address }) => address);
}
