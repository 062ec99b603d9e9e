import type { UserInfo } from "../auth/user.js";
import type { Facts } from "../facts/facts.js";
import type { ApiRequest, ApiResponse } from "../http/api-request.js";
import type { Representation } from "./negotiation/accept.js";
import type { ResourceDefinition, Subresource } from "./resource-definition.js";
import type { WriteEnvironment } from "./write/write-request.js";

/** Everything that an endpoint may use of the control plane. */
export interface RegistryEnvironment extends WriteEnvironment {
  readonly facts: Facts;
}

/** One authorized request for a resource, on its way through the registry. */
export interface ResourceCall {
  readonly environment: RegistryEnvironment;
  readonly request: ApiRequest;
  readonly user: UserInfo;
  readonly definition: ResourceDefinition;
  /** Empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
  /** Undefined for the main endpoint. */
  readonly subresource: Subresource | undefined;
  readonly representation: Representation;
  readonly warn: (text: string) => void;
}

export type Endpoint = (call: ResourceCall) => Promise<ApiResponse>;

/** The first value of a header. */
export function headerOf(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : value?.[0];
}
