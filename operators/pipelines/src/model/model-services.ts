import type { Clock, Random } from "setpoint/clock";
import type { ResourceName } from "setpoint/graph";
import type { Engine } from "../engine/engine.js";
import type { ProjectSettings } from "../project/project.js";
import type { ConnectorSettings } from "./model-input.js";

/** Services that the runs of all models share. */
export interface ModelServices {
  readonly engine: Engine;
  /** The project's folder. */
  readonly folder: string;
  /** Folder for fetched data. Defaults to `.setpoint/cache` in the project's folder. */
  readonly cacheFolder?: string;
  /** The schema to publish to. A model that equals its table in the main schema becomes a view of it. */
  readonly schema?: string;
  readonly settings: () => Pick<ProjectSettings, "environment" | "variables">;
  readonly connectors?: (name: string) => ConnectorSettings | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Called with the completed share of the running statement, between 0 and 1. */
  readonly onProgress?: (name: ResourceName, share: number) => void;
}
