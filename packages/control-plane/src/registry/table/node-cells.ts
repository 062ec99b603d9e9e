import type { UntypedObject } from "setpoint";
import { type Cells, list, NONE, record, text } from "./cell-values.js";

const ROLE = "node-role.kubernetes.io/";

export function nodeCells({ spec, status, metadata }: UntypedObject): Cells {
  const node = record(status);
  const ready = list(node.conditions)
    .map(record)
    .find(({ type }) => type === "Ready");
  const readiness = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  const roles = Object.keys(metadata.labels ?? {})
    .filter((label) => label.startsWith(ROLE))
    .map((label) => label.slice(ROLE.length))
    .sort();
  const address = (type: string): string =>
    text(
      list(node.addresses)
        .map(record)
        .find((each) => each.type === type)?.address ?? NONE,
    );
  const info = record(node.nodeInfo);
  return {
    Status: record(spec).unschedulable === true ? `${readiness},SchedulingDisabled` : readiness,
    Roles: roles.length === 0 ? NONE : roles.join(","),
    Version: text(info.kubeletVersion),
    "Internal-IP": address("InternalIP"),
    "External-IP": address("ExternalIP"),
    "OS-Image": info.osImage || "<unknown>",
    "Kernel-Version": info.kernelVersion || "<unknown>",
    "Container-Runtime": info.containerRuntimeVersion || "<unknown>",
  };
}
