import type { UntypedObject } from "setpoint/kinds";
import { type Cells, firstOf, list, NONE, record, text } from "./cell-values.js";

const SHOWN = 3;
const UNSET = "<unset>";

function endpoints({ subsets }: UntypedObject): Cells {
  if (list(subsets).length === 0) return { Endpoints: NONE };
  const addresses = list(subsets)
    .map(record)
    .flatMap((subset) => {
      const hosts = list(subset.addresses).map((address) => text(record(address).ip));
      const ports = list(subset.ports).map((port) => text(record(port).port));
      return ports.length === 0 ? hosts : ports.flatMap((port) => hosts.map((host) => hostPort(host, port)));
    });
  return { Endpoints: firstOf(addresses, SHOWN) };
}

function hostPort(host: string, port: string): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function endpointSlice({ addressType, ports, endpoints: members }: UntypedObject): Cells {
  const numbers = list(ports).map((each) => text(record(each).port ?? record(each).name ?? "*"));
  const addresses = list(members).flatMap((member) => list(record(member).addresses).map(text));
  return {
    AddressType: text(addressType),
    Ports: firstOf(numbers, SHOWN) || UNSET,
    Endpoints: firstOf(addresses, SHOWN) || UNSET,
  };
}

export const endpointCells = { endpoints, endpointSlice };
