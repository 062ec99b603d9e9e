import type { Clock, Random } from "setpoint/clock";
import type { ApiRequest, ApiResponse } from "../api/api-request.js";
import type { UserInfo } from "../api/user.js";
import type { Facts } from "../facts/facts.js";
import type { ResourceCatalog } from "../kinds/catalog.js";
import type { ResourceDefinition, Subresource } from "../kinds/resource-definition.js";
import type { Storage } from "../storage/storage.js";
import type { YamlRequest } from "./body/request-document.js";
import type { Representation } from "./negotiation/accept.js";
import type { ServedForms } from "./read/served-form.js";
import type { Proposal, WriteEnvironment } from "./write/write-request.js";

/** The parts of the control plane that a read may use. */
export interface ReadEnvironment {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  readonly catalog: ResourceCatalog;
  readonly forms: ServedForms;
}

/** The parts of the control plane that any endpoint may use. */
export interface RegistryEnvironment extends ReadEnvironment, WriteEnvironment {}

/** One authorized request for a resource that writes nothing. */
export interface ReadCall {
  readonly environment: ReadEnvironment;
  readonly request: ApiRequest & Pick<YamlRequest, "yaml"> & { readonly proposal?: Proposal };
  readonly user: UserInfo;
  readonly definition: ResourceDefinition;
  /** Empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
  /** Undefined for the main endpoint. */
  readonly subresource: Subresource | undefined;
  readonly representation: Representation;
  /** Throws a 403 unless the user may also create the object at this path. */
  readonly authorizeCreate: () => void;
  readonly warn: (text: string) => void;
}

/** One authorized request of any kind. */
export interface ResourceCall extends ReadCall {
  readonly environment: RegistryEnvironment;
}

export type ReadEndpoint = (call: ReadCall) => Promise<ApiResponse>;
export type Endpoint = (call: ResourceCall) => Promise<ApiResponse>;

/** The first value of a header. */
export function headerOf(request: Pick<ApiRequest, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : value?.[0];
}
