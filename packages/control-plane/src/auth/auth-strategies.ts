import { pathSegmentName } from "setpoint/kinds";
import type { StrategyExtras } from "../builtin/built-in-strategies.js";
import { certificateRequestStrategy } from "./certificates/certificate-request-strategy.js";
import { rbacStrategies } from "./rbac/rbac-strategies.js";

const GROUP = "rbac.authorization.k8s.io";
const RBAC = { nameRule: pathSegmentName, validatesMetadataTwice: true };

/** The strategies of roles, bindings and certificate requests. */
export const authStrategies: StrategyExtras = {
  "certificates.k8s.io/certificatesigningrequests": certificateRequestStrategy,
  [`${GROUP}/roles`]: { ...rbacStrategies.roles, ...RBAC },
  [`${GROUP}/clusterroles`]: { ...rbacStrategies.clusterroles, ...RBAC },
  [`${GROUP}/rolebindings`]: { ...rbacStrategies.rolebindings, ...RBAC },
  [`${GROUP}/clusterrolebindings`]: { ...rbacStrategies.clusterrolebindings, ...RBAC },
};
