import type { KubeObject } from "setpoint";

/** The parts of an APIService that this server looks at. */
export interface ApiService extends KubeObject {
  readonly spec?: { readonly service?: object };
  readonly status?: object;
}

export const API_SERVICE_STORAGE = "apiregistration.k8s.io/apiservices";

/** On those that the server keeps for what CRDs serve. */
export const MANAGED_LABEL = "kube-aggregator.kubernetes.io/automanaged";
