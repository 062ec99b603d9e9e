import type { Clock, Random } from "setpoint/clock";
import type { ApiHandler } from "../api/api-request.js";
import { builtInDefinitions } from "../builtin/built-in-definitions.js";
import type { Facts } from "../facts/facts.js";
import { ResourceCatalog } from "../kinds/catalog.js";
import type { Storage } from "../storage/storage.js";
import { type ApiHandlerOptions, apiHandler } from "./api-handler.js";
import { CRD_STORAGE } from "./crd/custom-resource-definition.js";
import type { ReadEnvironment } from "./endpoint.js";
import type { LoopLog } from "./loops/work-loop.js";
import { ServedForms } from "./read/served-form.js";
import type { WriteParts, WriteSide } from "./write-side.js";

export interface RegistryOptions
  extends Pick<ApiHandlerOptions, "authenticate" | "authorizer" | "paths" | "moreMetrics"> {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  /** Receives failures of the loops, which no client sees. By default they are dropped. */
  readonly log?: LoopLog;
  /** Whether to run the garbage collector, namespace deletion and storage protection. Defaults to true. */
  readonly controllers?: boolean;
  /** Whether threads read large bodies. Defaults to true. */
  readonly hasBodyThreads?: boolean;
  /** Called once, when the write side is created. */
  readonly writeParts: () => WriteParts | Promise<WriteParts>;
}

/** The API server between HTTP and the storage, with its loops. */
export class Registry implements AsyncDisposable {
  readonly environment: ReadEnvironment;
  readonly handler: ApiHandler;
  readonly #options: RegistryOptions;
  #loading: Promise<WriteSide> | undefined;
  #writeSide: WriteSide | undefined;

  constructor(options: RegistryOptions) {
    const { storage, clock, random, facts, authenticate, authorizer, paths, moreMetrics } = options;
    this.#options = options;
    const catalog = new ResourceCatalog(builtInDefinitions(facts, () => this.#writeSide!.builtIn));
    this.environment = { storage, clock, random, facts, catalog, forms: new ServedForms() };
    this.handler = apiHandler({
      environment: this.environment,
      authenticate,
      authorizer,
      ...(paths && { paths }),
      ...(moreMetrics && { moreMetrics }),
      writeSide: () => this.#writeSide ?? this.writeSide(),
    });
  }

  /** Loads the write side on first use, so that a server answers reads earlier. The loops run from then on. */
  writeSide(): Promise<WriteSide> {
    return (this.#loading ??= this.#load());
  }

  /** Resolves once every resource is served. Stored CRDs need the write side; built-in resources do not. */
  async served(): Promise<void> {
    if (this.environment.storage.snapshot(CRD_STORAGE)!.size > 0) await this.writeSide();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const side = await this.#loading?.catch(() => undefined);
    await side?.[Symbol.asyncDispose]();
  }

  async #load(): Promise<WriteSide> {
    const { writeParts, log = () => {}, controllers = true, hasBodyThreads = true } = this.#options;
    const [{ WriteSide }, parts] = await Promise.all([import("./write-side.js"), writeParts()]);
    this.#writeSide = new WriteSide({ parts, environment: this.environment, log, controllers, hasBodyThreads });
    return this.#writeSide;
  }
}
