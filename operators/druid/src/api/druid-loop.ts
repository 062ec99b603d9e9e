import type { Duration, KubeObject } from "setpoint";
import type { Druid } from "../druid.js";
import type { DruidApi } from "./druid-api.js";

/** Options shared by the controllers that call Druid's API. */
export interface DruidLoopOptions {
  readonly api: DruidApi;
  readonly urlOf: (druid: Druid) => string | undefined;
  readonly ignores: (object: KubeObject) => boolean;
  readonly namespaces?: readonly string[] | undefined;
  /** How often the controller polls Druid. */
  readonly pollInterval: Duration;
}

/** High, because workers mostly wait for Druid: a few unresponsive routers must not block the other clusters. */
export const DRUID_CONCURRENCY = 32;
