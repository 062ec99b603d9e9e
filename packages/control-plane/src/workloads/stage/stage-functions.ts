import { formatTime } from "setpoint/kinds";
import { HEALTHY_CONDITIONS } from "../node/node-life.js";
import type { TemplateFunctions } from "./go-template.js";

/** The node and addresses that a template may read; empty for an object without a node. */
export interface StagePlace {
  readonly hostIP: string;
  readonly podIP: string;
  readonly nodeName: string;
}

export const NOWHERE: StagePlace = { hostIP: "", podIP: "", nodeName: "" };

/** The functions of kwok's templates. */
export function stageFunctions(nowMs: number, place: StagePlace): TemplateFunctions {
  return {
    Now: () => formatTime(nowMs),
    StartTime: () => formatTime(nowMs),
    Quote: (value) =>
      JSON.stringify(
        value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value),
      ),
    YAML: (value) => JSON.stringify(value),
    NodeIP: () => place.hostIP,
    NodeIPWith: () => place.hostIP,
    PodIP: () => place.podIP,
    PodIPWith: () => place.podIP,
    NodeName: () => place.nodeName,
    NodePort: () => 10250,
    NodeConditions: () => HEALTHY_CONDITIONS,
    Version: () => "simulated",
    dict: (...pairs) =>
      Object.fromEntries(
        Array.from({ length: pairs.length / 2 }, (_, at) => [String(pairs[at * 2]), pairs[at * 2 + 1]]),
      ),
    list: (...values) => values,
    default: (fallback, value) => value || fallback,
    add: (...values) => values.reduce<number>((sum, value) => sum + Number(value ?? 0), 0),
    lower: (value) => String(value ?? "").toLowerCase(),
    upper: (value) => String(value ?? "").toUpperCase(),
  };
}
