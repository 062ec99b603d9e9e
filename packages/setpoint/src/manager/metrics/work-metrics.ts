import type { ControllerObserver } from "../../controller/environment.js";
import { controllerMetrics } from "./controller-metrics.js";
import type { MetricRegistry } from "./metric-registry.js";
import { stageMetrics } from "./stage-metrics.js";

/** All metrics of controllers and watchers: under controller-runtime's names, and those of each stage. */
export function workMetrics(registry: MetricRegistry): ControllerObserver {
  const [ofControllers, ofStages] = [controllerMetrics(registry), stageMetrics(registry)];
  return {
    ...ofControllers,
    ...ofStages,
    runEnded: (run) => {
      ofControllers.runEnded?.(run);
      ofStages.runEnded?.(run);
    },
  };
}
