import fc from "fast-check";
import type { Deployment, ReplicaSet } from "setpoint/kinds/apps/v1";
import { describe, expect, it } from "vitest";
import { planDeployment } from "./deployment-plan.js";
import { maxSurge, maxUnavailable } from "./replica-counts.js";

const template = (image: string) => ({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "a", image }] },
});

function deploymentOf(replicas: number, surge: number, unavailable: number): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "a",
      namespace: "n",
      uid: "d",
      generation: 2,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: "a" } },
      template: template("new"),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: `${surge}%`, maxUnavailable: `${unavailable}%` } },
    },
  };
}

const setOf = (name: string, image: string, replicas: number, available: number): ReplicaSet => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: {
    name,
    namespace: "n",
    uid: name,
    generation: 1,
    resourceVersion: "1",
    creationTimestamp: `2026-01-01T00:00:0${name.length}Z`,
  },
  spec: { replicas, selector: {}, template: template(image) },
  status: { replicas, availableReplicas: available, readyReplicas: available, observedGeneration: 1 },
});

describe("planDeployment", () => {
  it("reports a new replica set, unless it reports that it resumed", () => {
    const begun = (reason: string): readonly unknown[] | undefined => {
      const { spec, ...rest } = deploymentOf(1, 100, 0);
      const conditions = [{ type: "Progressing", status: "Unknown", reason }];
      const deployment = { ...rest, spec: { ...spec, progressDeadlineSeconds: 600 }, status: { conditions } };
      const plan = planDeployment(deployment, [setOf("old", "old", 1, 1)], false, 0);
      expect(plan.created).toBeDefined();
      return plan.opening?.map((condition) => condition.reason);
    };
    expect(begun("NewReplicaSetAvailable")).toEqual(["NewReplicaSetCreated"]);
    expect(begun("DeploymentPaused")).toEqual(["DeploymentResumed"]);
  });

  it("stays within its bounds at every step, whatever happens to the pods, and completes", () => {
    const share = fc.integer({ min: 0, max: 100 });
    const sizes = fc.record({ replicas: fc.integer({ min: 1, max: 12 }), surge: share, unavailable: share });
    fc.assert(
      fc.property(sizes, fc.array(fc.boolean(), { maxLength: 40 }), ({ replicas, surge, unavailable }, luck) => {
        const deployment = deploymentOf(replicas, surge, unavailable);
        let sets = [setOf("old", "old", replicas, replicas)];
        const isDone = (): boolean =>
          sets.every(
            ({ spec }) => spec.replicas === (spec.template!.spec.containers[0]!.image === "new" ? replicas : 0),
          );
        for (let step = 0; step < 200 && !isDone(); step++) {
          const plan = planDeployment(deployment, sets, false, 0);
          if (plan.created) sets = [...sets, setOf("newest", "new", plan.created.spec.replicas!, 0)];
          for (const { set, replicas: size } of plan.changes) {
            if (size === undefined) continue;
            sets = sets.map((each) =>
              each.metadata.uid === set.metadata.uid
                ? setOf(
                    each.metadata.name,
                    each.spec.template!.spec.containers[0]!.image!,
                    size,
                    Math.min(size, each.status!.availableReplicas!),
                  )
                : each,
            );
          }
          const total = sets.reduce((sum, { spec }) => sum + spec.replicas!, 0);
          const available = sets.reduce((sum, { status }) => sum + status!.availableReplicas!, 0);
          expect(total).toBeLessThanOrEqual(replicas + maxSurge(deployment));
          expect(available).toBeGreaterThanOrEqual(replicas - maxUnavailable(deployment));
          // One new pod becomes available now and then.
          if (luck[step] ?? true) {
            sets = sets.map((each) => {
              const { replicas: size = 0 } = each.spec;
              const image = each.spec.template!.spec.containers[0]!.image!;
              return image === "new"
                ? setOf(each.metadata.name, image, size, Math.min(size, each.status!.availableReplicas! + 1))
                : each;
            });
          }
        }
        expect(isDone()).toBe(true);
      }),
    );
  });
});
