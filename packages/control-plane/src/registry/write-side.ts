import type { Verb } from "../api/request-info.js";
import type { StrategyExtras } from "../builtin/built-in-strategies.js";
import { BuiltInWriting } from "../builtin/built-in-writing.js";
import type { Change } from "../storage/storage.js";
import { API_SERVICE_STORAGE } from "./api-services/api-service.js";
import { ApiServiceRegistration } from "./api-services/api-service-registration.js";
import { apiServiceStrategy } from "./api-services/api-service-strategy.js";
import { BodyThreads } from "./body/body-threads.js";
import { type ConversionMaker, CrdInstaller } from "./crd/crd-installer.js";
import { crdStrategy } from "./crd/crd-strategy.js";
import { CRD_STORAGE } from "./crd/custom-resource-definition.js";
import type { Endpoint, ReadEnvironment, RegistryEnvironment } from "./endpoint.js";
import { ChangeFeed } from "./loops/change-feed.js";
import { CrdCleanup } from "./loops/crd-cleanup.js";
import { CrdNaming } from "./loops/crd-naming.js";
import { GarbageCollector } from "./loops/garbage-collector.js";
import { NamespaceDeletion } from "./loops/namespace-deletion.js";
import { StorageProtection } from "./loops/storage-protection.js";
import type { LoopEnvironment, LoopLog, RegistryLoop } from "./loops/work-loop.js";
import { getObject, listObjects } from "./read/read-endpoints.js";
import { watchObjects } from "./read/watch-endpoint.js";
import { SUBRESOURCE_ENDPOINTS } from "./subresources/endpoints.js";
import type { AdmissionPlugin } from "./write/admission.js";
import { patchObject } from "./write/patch-endpoint.js";
import { createObject, deleteObject, deleteObjects, updateObject } from "./write/write-endpoints.js";

/**
 * The parts that other layers add to the registry for writes and subresources. The write side disposes them if they are
 * disposable.
 */
export interface WriteParts extends Partial<Disposable> {
  /** Plugins, in the order in which they run. */
  readonly admission: readonly AdmissionPlugin[];
  /** Converts objects of CRDs between versions. By default only the apiVersion changes. */
  readonly conversion?: ConversionMaker;
  /** Additional endpoints: `group/plural` for a whole resource, `group/plural/subresource` for a subresource. */
  readonly endpoints?: ReadonlyMap<string, Endpoint>;
  /** Strategies of built-in kinds from other layers, by `group/plural`. */
  readonly strategies?: StrategyExtras;
  /** Loops of other layers, created with those of the registry. */
  readonly loops?: (environment: LoopEnvironment) => readonly RegistryLoop[];
}

export interface WriteSideOptions {
  readonly parts: WriteParts;
  readonly environment: ReadEnvironment;
  readonly log: LoopLog;
  /** Whether to run the garbage collector, namespace deletion and storage protection. */
  readonly controllers: boolean;
  /** Whether threads read large bodies. */
  readonly hasBodyThreads: boolean;
}

const GENERIC: Readonly<Record<Verb, Endpoint>> = {
  get: getObject,
  list: listObjects,
  watch: watchObjects,
  create: createObject,
  update: updateObject,
  patch: patchObject,
  delete: deleteObject,
  deletecollection: deleteObjects,
};

/**
 * The part of the registry that gets and lists do not need: write endpoints, validation, CRDs and the loops. It is four
 * fifths of the code, so it is loaded at the first write or earlier, not at the start.
 */
export class WriteSide implements AsyncDisposable {
  readonly environment: RegistryEnvironment;
  readonly builtIn: BuiltInWriting;
  /** Threads for large bodies. Undefined in such a thread itself. */
  readonly bodies: BodyThreads | undefined;
  readonly #endpoints: ReadonlyMap<string, Endpoint>;
  readonly #crds: CrdInstaller;
  readonly #loops: readonly AsyncDisposable[];
  readonly #feed: Disposable;
  readonly #parts: WriteParts;

  constructor({ environment, parts, log, controllers, hasBodyThreads }: WriteSideOptions) {
    const { storage, catalog, facts } = environment;
    const { admission, conversion, endpoints, strategies = {} } = parts;
    this.#parts = parts;
    this.bodies = hasBodyThreads ? new BodyThreads() : undefined;
    this.environment = { ...environment, admission };
    this.#endpoints = new Map([...SUBRESOURCE_ENDPOINTS, ...(endpoints ?? [])]);
    this.#crds = new CrdInstaller(storage, catalog, facts, conversion ?? (() => undefined));
    const inLoop = { ...this.environment, log };
    const naming = new CrdNaming(inLoop);
    this.builtIn = new BuiltInWriting(facts, strategies, {
      [CRD_STORAGE]: crdStrategy(() => naming.settled()),
      [API_SERVICE_STORAGE]: apiServiceStrategy,
    });
    const ofControllers = controllers
      ? [
          new GarbageCollector(inLoop),
          new NamespaceDeletion(inLoop),
          new StorageProtection(inLoop),
          ...(parts.loops?.(inLoop) ?? []),
        ]
      : [];
    const loops = [naming, new CrdCleanup(inLoop), new ApiServiceRegistration(inLoop), ...ofControllers];
    this.#loops = loops;
    const listeners = loops.map((loop) => (changes: readonly Change[]) => loop.onChanges(changes));
    this.#feed = new ChangeFeed(storage, catalog, listeners);
  }

  /** The special endpoint of a resource (`group/plural`) or subresource, if any. */
  special(id: string): Endpoint | undefined {
    return this.#endpoints.get(id);
  }

  /** Whether another layer added the endpoint. */
  isAdded(id: string): boolean {
    return this.#parts.endpoints?.has(id) === true;
  }

  generic(verb: Verb): Endpoint {
    return GENERIC[verb];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#feed[Symbol.dispose]();
    this.#crds[Symbol.dispose]();
    await Promise.all([this.bodies, ...this.#loops].map((part) => part?.[Symbol.asyncDispose]()));
    this.#parts[Symbol.dispose]?.();
  }
}
