import { asJson, isArray, type Json, type JsonObject } from "../../api/json.js";
import type { Warnings } from "../../kinds/strategy.js";
import { list, object } from "../validation/rule.js";
import { addressWarnings, eachWarnings, rangeWarnings } from "./address-warnings.js";

const HINTS = "service.kubernetes.io/topology-aware-hints";
const INGRESS_CLASS = "kubernetes.io/ingress.class";

const when = (isSo: unknown, why: string): readonly string[] => (isSo ? [why] : []);

const service: Warnings = ({ metadata, ...given }) => {
  const spec = object((given as unknown as JsonObject).spec);
  const { type, externalIPs, loadBalancerIP } = spec;
  const isHeadless = type === "ClusterIP" && spec.clusterIP === "None";
  const isNamed = type === "ExternalName";
  const hasExternal = isArray(externalIPs) && externalIPs.length > 0;
  const isExposed = hasExternal && !isHeadless && !isNamed;
  const isClose = spec.trafficDistribution === "PreferClose";
  const mode = `annotation ${HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead`;
  return [
    ...when(metadata.annotations?.[HINTS] !== undefined, mode),
    ...eachWarnings(addressWarnings, spec.clusterIPs, "spec.clusterIPs"),
    ...when(isHeadless && loadBalancerIP, "spec.loadBalancerIP is ignored for headless services"),
    ...when(isHeadless && hasExternal, "spec.externalIPs is ignored for headless services"),
    ...when(isHeadless && spec.sessionAffinity !== "None", "spec.SessionAffinity is ignored for headless services"),
    ...eachWarnings(addressWarnings, externalIPs, "spec.externalIPs"),
    ...when(isExposed, "spec.externalIPs is deprecated and may no longer be implemented in some clusters"),
    ...addressWarnings(loadBalancerIP, "spec.loadBalancerIP"),
    ...eachWarnings(rangeWarnings, spec.loadBalancerSourceRanges, "spec.loadBalancerSourceRanges"),
    ...when(isNamed && hasExternal, 'spec.externalIPs is ignored when spec.type is "ExternalName"'),
    ...when(!isNamed && spec.externalName, 'spec.externalName is ignored when spec.type is not "ExternalName"'),
    ...when(isClose, 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'),
  ];
};

const ingress: Warnings = (given, old) => {
  const isNamed = object(asJson(given).spec).ingressClassName !== undefined;
  if (old !== undefined || isNamed || given.metadata.annotations?.[INGRESS_CLASS] === undefined) return [];
  return [`annotation "${INGRESS_CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
};

const networkPolicy: Warnings = (given) => {
  const spec = object(asJson(given).spec);
  return [...peerWarnings(spec.ingress, "ingress", "from"), ...peerWarnings(spec.egress, "egress", "to")];
};

function peerWarnings(rules: Json | undefined, name: string, peers: string): readonly string[] {
  return list(rules).flatMap((rule, index) =>
    list(rule[peers]).flatMap(({ ipBlock }, position) => {
      const { cidr, except } = object(ipBlock);
      const at = `spec.${name}[${index}].${peers}[${position}].ipBlock`;
      return [...rangeWarnings(cidr, `${at}.cidr`), ...eachWarnings(rangeWarnings, except, `${at}.except`)];
    }),
  );
}

/** Objects of these controllers are canonical and frequent, so they are not checked. */
const CONTROLLERS: readonly (string | undefined)[] = [
  "endpoint-controller",
  "endpointslice-controller.k8s.io",
  "endpointslicemirroring-controller.k8s.io",
];

const endpoints: Warnings = (given) => {
  if (CONTROLLERS.includes(given.metadata.labels?.["endpoints.kubernetes.io/managed-by"])) return [];
  return list(asJson(given).subsets).flatMap((subset, index) =>
    ["addresses", "notReadyAddresses"].flatMap((name) =>
      list(subset[name]).flatMap(({ ip }, position) =>
        addressWarnings(ip, `subsets[${index}].${name}[${position}].ip`),
      ),
    ),
  );
};

const endpointSlice: Warnings = (given, old) => {
  const { addressType, endpoints: members } = asJson(given);
  const isManaged = CONTROLLERS.includes(given.metadata.labels?.["endpointslice.kubernetes.io/managed-by"]);
  return [
    ...when(old === undefined && addressType === "FQDN", "spec.addressType: FQDN endpoints are deprecated"),
    ...list(isManaged ? [] : members).flatMap(({ addresses }, index) =>
      eachWarnings(addressWarnings, addresses, `endpoints[${index}].addresses`),
    ),
  ];
};

export const networkWarnings: Readonly<Record<string, Warnings>> = {
  "/services": service,
  "/endpoints": endpoints,
  "discovery.k8s.io/endpointslices": endpointSlice,
  "networking.k8s.io/ingresses": ingress,
  "networking.k8s.io/networkpolicies": networkPolicy,
};
