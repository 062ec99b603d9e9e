import { isApiError } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { isLoopbackHost } from "../../client/cluster/loopback.js";
import { parseServer } from "../../client/cluster/server-address.js";
import { EndpointSlice } from "../../kinds/builtin/discovery.k8s.io/v1.js";

/** The addresses that an API server advertises. */
export interface AdvertisedServer {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

/**
 * Whether an API server can call this machine's loopback: `here`, or `elsewhere`, with the addresses that it
 * advertises. `unsure` if the addresses belong to another machine but the port is the one that the client connected to:
 * it may be a virtual machine with a forwarded port, or a laptop that has changed networks.
 */
export type ServerPlace =
  | { readonly type: "here" }
  | { readonly type: "elsewhere" | "unsure"; readonly addresses: readonly string[] };

/** Asks the server only if its address does not decide the place. */
export async function findServer(client: Client): Promise<ServerPlace> {
  const byUrl = serverPlace(client.server, undefined, []);
  if (byUrl.type !== "here" || !URL.canParse(client.server)) return byUrl;
  return serverPlace(client.server, await advertisedServer(client), ownAddresses());
}

/**
 * The endpoints of the Service `kubernetes`, which API servers maintain themselves. Undefined if the client may not see
 * them.
 */
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
 * Decides by the client's address of the server, the addresses that the server advertises, and the addresses of this
 * machine. A loopback address alone proves little: kind, minikube and ssh tunnels forward ports.
 */
export function serverPlace(
  server: string,
  advertised: AdvertisedServer | undefined,
  ownAddresses: readonly string[],
): ServerPlace {
  // The embedded control plane of this process has no URL.
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
