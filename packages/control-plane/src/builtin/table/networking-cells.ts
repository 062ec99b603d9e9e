import type { UntypedObject } from "setpoint/kinds";
import { addressesText, type Cells, list, NONE, record, text } from "./cell-values.js";

const SHOWN_HOSTS = 3;

function ingress({ spec, status }: UntypedObject): Cells {
  const { ingressClassName, rules, tls } = record(spec);
  return {
    Class: ingressClassName ?? NONE,
    Hosts: hostsText(list(rules).map((rule) => text(record(rule).host))),
    Address: addressesText(record(status).loadBalancer),
    Ports: list(tls).length > 0 ? "80, 443" : "80",
  };
}

/** The first hosts. After the last one shown, every further rule counts, with or without a host. */
function hostsText(hosts: readonly string[]): string {
  const named = hosts.flatMap((host, index) => (host === "" ? [] : [{ host, index }]));
  if (named.length === 0) return "*";
  const shown = named
    .slice(0, SHOWN_HOSTS)
    .map(({ host }) => host)
    .join(",");
  const last = named[SHOWN_HOSTS - 1];
  const hasMore = last !== undefined && last.index < hosts.length - 1;
  return hasMore ? `${shown} + ${hosts.length - SHOWN_HOSTS} more...` : shown;
}

function ingressClass({ metadata, spec }: UntypedObject): Cells {
  const { controller, parameters } = record(spec);
  const { apiGroup, kind, name } = record(parameters);
  const isDefault = metadata.annotations?.["ingressclass.kubernetes.io/is-default-class"] === "true";
  const resource = apiGroup === undefined ? text(kind) : `${text(kind)}.${text(apiGroup)}`;
  return {
    Name: metadata.name + (isDefault ? " (default)" : ""),
    Controller: text(controller),
    Parameters: parameters === undefined ? NONE : `${resource}/${text(name)}`,
  };
}

function address({ spec }: UntypedObject): Cells {
  const { parentRef } = record(spec);
  const { group, resource, namespace, name } = record(parentRef);
  const parent = [text(resource), text(group)].filter(Boolean).join(".").toLowerCase();
  return {
    ParentRef: parentRef === undefined ? NONE : [parent, namespace, name].filter(Boolean).map(text).join("/"),
  };
}

export const networkingCells = { ingress, ingressClass, address };
