import { WORKLOAD_NAMES, type WorkloadChoice, type WorkloadName } from "@setpoint/control-plane";
import { UsageError } from "setpoint/command";

/** What `--workloads` stands for: `true` (all), `false` (none), or names. Throws a `UsageError` for any other. */
export function parseWorkloads(text: string): WorkloadChoice {
  if (text === "true" || text === "false") return text === "true";
  const names = text.split(",").map((name) => name.trim());
  for (const name of names) {
    if (WORKLOAD_NAMES.includes(name as WorkloadName)) continue;
    throw new UsageError(`--workloads ${name}: give true, false, or some of ${WORKLOAD_NAMES.join(", ")}`);
  }
  return Object.fromEntries(names.map((name) => [name, true]));
}
