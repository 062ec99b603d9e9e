import type { KubeObject } from "setpoint";

/** The parts of an APIService that this server reads. */
export interface ApiService extends KubeObject {
  readonly spec?: { readonly service?: object };
  readonly status?: { readonly conditions?: readonly AvailableCondition[] };
}

interface AvailableCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export const API_SERVICE_STORAGE = "apiregistration.k8s.io/apiservices";

/** Marks the APIServices that the server maintains for CRDs. */
export const MANAGED_LABEL = "kube-aggregator.kubernetes.io/automanaged";

const AVAILABLE = {
  type: "Available",
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const;

/**
 * Sets the Available condition of a local APIService. Returns the object unchanged if it has that condition or names
 * another server.
 */
export function withAvailable(object: ApiService, now: string): ApiService {
  if (object.spec?.service !== undefined) return object;
  const { conditions = [] } = object.status ?? {};
  const old = conditions.find(({ type }) => type === AVAILABLE.type);
  const { type, status, reason, message } = AVAILABLE;
  if (old?.status === status && old.reason === reason && old.message === message) return object;
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
  const others = conditions.filter((each) => each !== old);
  const condition = { type, status, ...(lastTransitionTime && { lastTransitionTime }), reason, message };
  return { ...object, status: { ...object.status, conditions: [...others, condition] } };
}
