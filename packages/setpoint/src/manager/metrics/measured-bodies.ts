import type { Clock } from "../../clock/clock.js";
import { systemClock } from "../../clock/system-clock.js";
import type { BodyStore } from "../../informer/store/body-store.js";
import { type Kind, kindId } from "../../kinds/kind.js";
import type { MetricDefinition } from "../../queue/queue-metrics.js";
import type { MetricRegistry } from "./metric-registry.js";

const READS: MetricDefinition = {
  name: "informer_cache_read_duration_seconds",
  type: "histogram",
  help: "Duration of body reads from the external store, failed ones included.",
};
const WRITES: MetricDefinition = {
  name: "informer_cache_write_duration_seconds",
  type: "histogram",
  help: "Duration of body writes to the external store, failed ones included.",
};

/**
 * The same body store, its reads and writes measured by kind.
 *
 * ```ts
 * const bodies = measuredBodies(new RedisBodies({ prefix: "websites", writer }), Website, manager.metrics);
 * await using websites = new ExternalInformer(client, Website, { bodies });
 * ```
 */
export function measuredBodies(
  bodies: BodyStore,
  kind: Kind,
  registry: MetricRegistry,
  clock: Pick<Clock, "monotonic"> = systemClock,
): BodyStore {
  const [reads, writes] = [registry.histogram(READS), registry.histogram(WRITES)];
  const labels = { kind: kindId(kind) };
  const measured = async <Answer>(durations: typeof reads, access: () => Promise<Answer>): Promise<Answer> => {
    const startedMs = clock.monotonic();
    try {
      return await access();
    } finally {
      durations.observe(labels, (clock.monotonic() - startedMs) / 1_000);
    }
  };
  return {
    get: (key) => measured(reads, () => bodies.get(key)),
    put: (key, stored) => measured(writes, () => bodies.put(key, stored)),
    delete: (key) => measured(writes, () => bodies.delete(key)),
    [Symbol.asyncDispose]: () => bodies[Symbol.asyncDispose](),
  };
}
