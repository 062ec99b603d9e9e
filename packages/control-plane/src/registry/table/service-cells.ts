import type { UntypedObject } from "setpoint";
import { type Cells, list, NONE, record, text } from "./cell-values.js";

export function serviceCells({ spec, status }: UntypedObject): Cells {
  const service = record(spec);
  const selector = Object.entries(record(service.selector)).map(([key, value]) => `${key}=${text(value)}`);
  const ports = list(service.ports).map((each) => {
    const { port, nodePort, protocol } = record(each);
    return nodePort ? `${text(port)}:${text(nodePort)}/${text(protocol)}` : `${text(port)}/${text(protocol)}`;
  });
  return {
    Type: text(service.type),
    "Cluster-IP": service.clusterIP || NONE,
    "External-IP": externalAddress(service, record(status)),
    "Port(s)": ports.length === 0 ? NONE : ports.join(","),
    Selector: selector.length === 0 ? NONE : selector.sort().join(","),
  };
}

function externalAddress(
  service: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>>,
): string {
  const external = list(service.externalIPs).map(text);
  if (service.type === "ExternalName") return text(service.externalName);
  if (service.type !== "LoadBalancer") return external.length === 0 ? NONE : external.join(",");
  const assigned = list(record(status.loadBalancer).ingress).map((each) =>
    text(record(each).ip ?? record(each).hostname),
  );
  const all = [...assigned, ...external];
  return all.length === 0 ? "<pending>" : all.join(",");
}
