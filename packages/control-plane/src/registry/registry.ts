import type { Clock, Random } from "setpoint";
import type { AdmissionPlugin } from "../admission/admission.js";
import type { Facts } from "../facts/facts.js";
import type { ApiHandler } from "../http/api-request.js";
import type { Change, Storage } from "../storage/storage.js";
import { type ApiHandlerOptions, apiHandler } from "./api-handler.js";
import { API_SERVICE_STORAGE } from "./api-services/api-service.js";
import { ApiServiceRegistration } from "./api-services/api-service-registration.js";
import { apiServiceStrategy } from "./api-services/api-service-strategy.js";
import { ResourceCatalog } from "./catalog.js";
import { type ConversionMaker, CrdInstaller } from "./crd/crd-installer.js";
import { crdStrategy } from "./crd/crd-strategy.js";
import { CRD_STORAGE } from "./crd/custom-resource-definition.js";
import type { RegistryEnvironment } from "./endpoint.js";
import { builtInDefinitions } from "./kinds/built-in-definitions.js";
import { ChangeFeed } from "./loops/change-feed.js";
import { CrdCleanup } from "./loops/crd-cleanup.js";
import { CrdNaming } from "./loops/crd-naming.js";
import { GarbageCollector } from "./loops/garbage-collector.js";
import { NamespaceDeletion } from "./loops/namespace-deletion.js";
import { PolicyTypeChecking } from "./loops/policy-type-checking.js";
import { QuotaStatus } from "./loops/quota-status.js";
import { StorageProtection } from "./loops/storage-protection.js";
import type { LoopLog } from "./loops/work-loop.js";

export interface RegistryOptions
  extends Pick<ApiHandlerOptions, "authenticate" | "authorizer" | "endpoints" | "paths"> {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  /** Receives what goes wrong in the loops, where no client is told. Defaults to nothing. */
  readonly log?: LoopLog;
  /** Whether orphans are removed, namespaces emptied and volumes protected. Defaults to true. */
  readonly controllers?: boolean;
  /** In the order in which they run. */
  readonly admission: readonly AdmissionPlugin[];
  /** How objects of CRDs get from one version to another, beyond a change of their apiVersion. */
  readonly conversion?: ConversionMaker;
}

/** The API server between HTTP and the storage, with the loops that belong to it. */
export class Registry implements AsyncDisposable {
  readonly environment: RegistryEnvironment;
  readonly handler: ApiHandler;
  readonly #crds: CrdInstaller;
  readonly #loops: readonly AsyncDisposable[];
  readonly #feed: Disposable;

  constructor(options: RegistryOptions) {
    const { storage, clock, random, facts, admission, conversion = () => undefined, log = () => {}, ...rest } = options;
    const { controllers = true } = options;
    const catalog: ResourceCatalog = new ResourceCatalog(
      builtInDefinitions(facts, {
        [CRD_STORAGE]: crdStrategy(() => naming.settled()),
        [API_SERVICE_STORAGE]: apiServiceStrategy,
      }),
    );
    this.environment = { storage, clock, random, facts, admission, catalog };
    this.#crds = new CrdInstaller(storage, catalog, facts, conversion);
    const inLoop = { ...this.environment, log };
    const naming = new CrdNaming(inLoop);
    const ofControllers = controllers
      ? [
          new GarbageCollector(inLoop),
          new NamespaceDeletion(inLoop),
          new StorageProtection(inLoop),
          new QuotaStatus(inLoop),
          new PolicyTypeChecking(inLoop),
        ]
      : [];
    const loops = [naming, new CrdCleanup(inLoop), new ApiServiceRegistration(inLoop), ...ofControllers];
    this.#loops = loops;
    const listeners = loops.map((loop) => (changes: readonly Change[]) => loop.onChanges(changes));
    this.#feed = new ChangeFeed(storage, catalog, listeners);
    this.handler = apiHandler({ environment: this.environment, ...rest });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#feed[Symbol.dispose]();
    this.#crds[Symbol.dispose]();
    await Promise.all(this.#loops.map((loop) => loop[Symbol.asyncDispose]()));
  }
}
