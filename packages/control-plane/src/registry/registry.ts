import type { Clock, Random } from "setpoint";
import type { AdmissionPlugin } from "../admission/admission.js";
import type { Facts } from "../facts/facts.js";
import type { ApiHandler } from "../http/api-request.js";
import type { Storage } from "../storage/storage.js";
import { type ApiHandlerOptions, apiHandler } from "./api-handler.js";
import { ResourceCatalog } from "./catalog.js";
import type { RegistryEnvironment } from "./endpoint.js";
import { builtInDefinitions } from "./kinds/built-in-definitions.js";

export interface RegistryOptions
  extends Pick<ApiHandlerOptions, "authenticate" | "authorizer" | "endpoints" | "paths"> {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  /** In the order in which they run. */
  readonly admission: readonly AdmissionPlugin[];
}

/** The API server between HTTP and the storage, with the loops that belong to it. */
export class Registry implements AsyncDisposable {
  readonly environment: RegistryEnvironment;
  readonly handler: ApiHandler;

  constructor(options: RegistryOptions) {
    const { storage, clock, random, facts, admission, ...rest } = options;
    const catalog = new ResourceCatalog(builtInDefinitions(facts));
    this.environment = { storage, clock, random, facts, admission, catalog };
    this.handler = apiHandler({ environment: this.environment, ...rest });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
