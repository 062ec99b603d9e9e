import { formatTime } from "setpoint";
import type { TemplateFunctions } from "./go-template.js";

/** What kwok's templates call. */
export function stageFunctions(
  nowMs: number,
  place: { readonly hostIP: string; readonly podIP: string },
): TemplateFunctions {
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
    NodeName: () => "",
    NodePort: () => 10250,
    Version: () => "simulated",
    dict: (...pairs) =>
      Object.fromEntries(
        Array.from({ length: pairs.length / 2 }, (_, at) => [String(pairs[at * 2]), pairs[at * 2 + 1]]),
      ),
    default: (fallback, value) => value || fallback,
  };
}
