import type { UntypedObject } from "setpoint/kinds";
import { addressesText, type Cells, labelsText, list, NONE, record, text } from "./cell-values.js";

export function serviceCells({ spec, status }: UntypedObject): Cells {
  const service = record(spec);
  const ports = list(service.ports).map((each) => {
    const { port, nodePort, protocol } = record(each);
    return nodePort ? `${text(port)}:${text(nodePort)}/${text(protocol)}` : `${text(port)}/${text(protocol)}`;
  });
  return {
    Type: text(service.type),
    "Cluster-IP": list(service.clusterIPs)[0] ?? NONE,
    "External-IP": externalAddress(service, record(status)),
    "Port(s)": ports.length === 0 ? NONE : ports.join(","),
    Selector: labelsText(service.selector),
  };
}

function externalAddress(
  service: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>>,
): string {
  const external = list(service.externalIPs).map(text);
  if (service.type === "ExternalName") return text(service.externalName);
  if (service.type !== "LoadBalancer") return external.length === 0 ? NONE : external.join(",");
  return [addressesText(status.loadBalancer), ...external].filter(Boolean).join(",") || "<pending>";
}
