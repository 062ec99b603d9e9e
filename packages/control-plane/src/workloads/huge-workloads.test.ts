import { systemClock } from "setpoint/clock";
import { ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import { Job } from "setpoint/kinds/batch/v1";
import { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { controlPlane } from "../control-plane.js";
import { labelled, Simulation } from "./simulation.testing.js";

const HUGE = 2_147_483_647;
const metadata = (name: string, namespace = "default") => ({ name, namespace });
/** No kubelet, nodes or scheduler: pods are created and stay pending. */
const CONTROLLERS = { replicasets: true, deployments: true, statefulsets: true, jobs: true };

describe("workloads of two billion replicas", { timeout: 60_000 }, () => {
  it("are created in batches, while the server answers and other controllers work [R5]", async () => {
    const failures: string[] = [];
    const log = (message: string, error: unknown): void => void failures.push(`${message}: ${String(error)}`);
    await using plane = await controlPlane({ workloads: CONTROLLERS, log });
    const count = async (labelSelector: string) => (await plane.client.list(Pod, { labelSelector })).items.length;
    /** Each check needs a turn of the event loop: if controllers blocked it, there would be none. */
    const reached = async (labelSelector: string, pods: number): Promise<void> => {
      while ((await count(labelSelector)) < pods) await systemClock.sleep(1);
    };
    const huge = { ...labelled("huge"), replicas: HUGE };
    const parallel = { ...huge, podManagementPolicy: "Parallel" as const, serviceName: "x" };
    await plane.client.create(StatefulSet, { metadata: metadata("huge"), spec: parallel });
    await reached("app=huge", 20);
    expect(await count("app=huge")).toBeLessThan(500);
    const small = { ...labelled("small"), replicas: 3 };
    await plane.client.create(ReplicaSet, { metadata: metadata("small", "kube-public"), spec: small });
    await reached("app=small", 3);
    expect(failures).toEqual([]);
  });

  it("whose indexes are reported as done are processed as ranges [R5]", async () => {
    await using simulation = await Simulation.start(CONTROLLERS);
    const { template } = labelled("huge-job");
    await simulation.client.create(Job, {
      metadata: metadata("huge-job"),
      spec: {
        completions: HUGE,
        parallelism: 2,
        completionMode: "Indexed",
        template: { ...template, spec: { ...template.spec!, restartPolicy: "Never" } },
      },
    });
    const status = { startTime: "2026-01-01T00:00:00Z", completedIndexes: `0-${HUGE - 3}`, succeeded: HUGE - 2 };
    const body = { status: { ...status } };
    await simulation.client.patch(
      Job,
      "huge-job",
      { type: "merge", body } as never,
      {
        namespace: "default",
        subresource: "status",
      } as never,
    );
    await simulation.advance(1);
    const pods = await simulation.pods("app=huge-job");
    expect(pods.length).toBeGreaterThanOrEqual(2);
    const job = await simulation.get(Job, "huge-job");
    expect(job.status?.succeeded).toBe(HUGE - 2);
  });
});
