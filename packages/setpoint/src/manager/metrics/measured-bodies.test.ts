import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import type { BodyStore } from "../../informer/store/body-store.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { measuredBodies } from "./measured-bodies.js";
import { MetricRegistry } from "./metric-registry.js";

it("reads and writes of external bodies are measured by kind, including failed ones", async () => {
  const clock = new VirtualClock();
  const registry = new MetricRegistry();
  const slow: BodyStore = {
    get: () => clock.sleep(200).then(() => undefined),
    put: () => clock.sleep(2_000).then(() => true),
    delete: () => Promise.reject(new Error("gone")),
    [Symbol.asyncDispose]: async () => {},
  };
  const bodies = measuredBodies(slow, ConfigMap, registry, clock);
  const put = bodies.put("team/a", { resourceVersion: "1", body: Buffer.from("{}") });
  const got = bodies.get("team/a");
  await clock.advance(5_000);
  expect([await got, await put]).toEqual([undefined, true]);
  await expect(bodies.delete("team/a")).rejects.toThrow("gone");
  const lines = registry.exposition().split("\n");
  expect(lines).toContain('informer_cache_read_duration_seconds_sum{kind="v1/ConfigMap"} 0.2');
  expect(lines).toContain('informer_cache_write_duration_seconds_sum{kind="v1/ConfigMap"} 2');
  expect(lines).toContain('informer_cache_write_duration_seconds_count{kind="v1/ConfigMap"} 2');
});
