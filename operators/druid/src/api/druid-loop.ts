import type { Duration, KubeObject } from "setpoint";
import type { Druid } from "../druid.js";
import type { DruidApi } from "./druid-api.js";

/** What the loops that talk to Druid have in common. */
export interface DruidLoopOptions {
  readonly api: DruidApi;
  readonly urlOf: (druid: Druid) => string | undefined;
  readonly ignores: (object: KubeObject) => boolean;
  readonly namespaces?: readonly string[] | undefined;
  /** How often Druid is asked again. */
  readonly pollInterval: Duration;
}

/** They mostly wait for Druid: a few routers that do not answer must not hold up the others. */
export const DRUID_CONCURRENCY = 32;
