import type { Clock, Random } from "setpoint/clock";
import type { ResourceName } from "setpoint/graph";
import type { Engine } from "../engine/engine.js";
import type { ProjectSettings } from "../project/project.js";
import type { ConnectorSettings } from "./model-input.js";

/** What the runs of all models share. */
export interface ModelServices {
  readonly engine: Engine;
  /** The project's folder. */
  readonly folder: string;
  /** For what is fetched from elsewhere. Defaults to `.setpoint/cache` in the folder. */
  readonly cacheFolder?: string;
  /** Publications go to this schema; what equals the main schema is shared with it. */
  readonly schema?: string;
  readonly settings: () => Pick<ProjectSettings, "environment" | "variables">;
  readonly connectors?: (name: string) => ConnectorSettings | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Share of a run's statement that is done, between 0 and 1. */
  readonly onProgress?: (name: ResourceName, share: number) => void;
}
