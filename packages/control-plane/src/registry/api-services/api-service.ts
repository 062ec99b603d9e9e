import type { KubeObject } from "setpoint";

/** The parts of an APIService that this server looks at. */
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

/** On those that the server keeps for what CRDs serve. */
export const MANAGED_LABEL = "kube-aggregator.kubernetes.io/automanaged";

const AVAILABLE = {
  type: "Available",
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const;

/** The APIService with the condition of one that is served here; as it is where it has that, or names another server. */
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
