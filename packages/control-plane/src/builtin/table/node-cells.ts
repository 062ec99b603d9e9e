import type { UntypedObject } from "setpoint/kinds";
import { type Cells, list, NONE, record, text } from "./cell-values.js";

const ROLE = "node-role.kubernetes.io/";
/** The label whose value is a role. */
const NAMED_ROLE = "kubernetes.io/role";

export function nodeCells({ spec, status, metadata }: UntypedObject): Cells {
  const node = record(status);
  const ready = list(node.conditions)
    .map(record)
    .find(({ type }) => type === "Ready");
  const readiness = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  const roles = Object.entries(metadata.labels ?? {})
    .map(([label, value]) => (label === NAMED_ROLE ? value : label.startsWith(ROLE) ? label.slice(ROLE.length) : ""))
    .filter(Boolean);
  const address = (type: string): string =>
    text(
      list(node.addresses)
        .map(record)
        .find((each) => each.type === type)?.address ?? NONE,
    );
  const info = record(node.nodeInfo);
  return {
    Status: record(spec).unschedulable === true ? `${readiness},SchedulingDisabled` : readiness,
    Roles: [...new Set(roles)].sort().join(",") || NONE,
    Version: text(info.kubeletVersion),
    "Internal-IP": address("InternalIP"),
    "External-IP": address("ExternalIP"),
    "OS-Image": info.osImage || "<unknown>",
    "Kernel-Version":
      text(info.kernelVersion || "<unknown>") + (info.architecture ? ` (${text(info.architecture)})` : ""),
    "Container-Runtime": info.containerRuntimeVersion || "<unknown>",
  };
}
