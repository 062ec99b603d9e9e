import fc from "fast-check";
import type { StatefulSet } from "setpoint/kinds/apps/v1";
import type { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { planStatefulSet } from "./stateful-set-plan.js";

interface Shape {
  readonly ordinal: number;
  readonly isReady: boolean;
  readonly isUpdated: boolean;
  readonly isGoing: boolean;
}

const podOf = ({ ordinal, isReady, isUpdated, isGoing }: Shape): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `db-${ordinal}`,
    uid: `u${ordinal}`,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { "controller-revision-hash": isUpdated ? "new" : "old" },
    ...(isGoing && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  },
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
});

const setOf = (replicas: number, isParallel: boolean, partition: number): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: {
    name: "db",
    namespace: "n",
    uid: "s",
    generation: 1,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: {
    replicas,
    selector: { matchLabels: {} },
    serviceName: "db",
    template: { spec: { containers: [] } },
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
    podManagementPolicy: isParallel ? "Parallel" : "OrderedReady",
  },
});

const shapes = fc.uniqueArray(
  fc.record<Shape>({
    ordinal: fc.integer({ min: 0, max: 6 }),
    isReady: fc.boolean(),
    isUpdated: fc.boolean(),
    isGoing: fc.boolean(),
  }),
  { selector: ({ ordinal }) => ordinal, maxLength: 7 },
);
const revisions = { current: "old", update: "new", collisionCount: 0 };

describe("planStatefulSet", () => {
  it("does one thing at a time in order, and only if all earlier pods are healthy", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 6 }),
        (given, replicas, partition) => {
          const pods = given.map(podOf);
          const { actions } = planStatefulSet(setOf(replicas, false, partition), pods, revisions, 0);
          expect(actions.length).toBeLessThanOrEqual(1);
          const [action] = actions;
          if (!action) return;
          const isWell = (ordinal: number): boolean =>
            given.some((shape) => shape.ordinal === ordinal && shape.isReady && !shape.isGoing);
          const before = action.type === "create" ? action.ordinal : action.isScaledDown ? replicas : 0;
          for (let ordinal = 0; ordinal < before; ordinal++) expect(isWell(ordinal)).toBe(true);
          if (action.type === "delete" && !action.isScaledDown)
            expect(action.ordinal).toBeGreaterThanOrEqual(partition);
        },
      ),
    );
  });

  it("creates all missing pods and deletes all surplus ones at once, in parallel mode", () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 0, max: 6 }), (given, replicas) => {
        const pods = given.map(podOf);
        const { actions, status } = planStatefulSet(setOf(replicas, true, 0), pods, revisions, 0);
        const there = new Set(given.map(({ ordinal }) => ordinal));
        const missing = Array.from({ length: replicas }, (_, ordinal) => ordinal).filter(
          (ordinal) => !there.has(ordinal),
        );
        expect(actions.flatMap((each) => (each.type === "create" ? [each.ordinal] : []))).toEqual(missing);
        const surplus = given.filter(({ ordinal, isGoing }) => ordinal >= replicas && !isGoing).length;
        expect(actions.filter((each) => each.type === "delete" && each.isScaledDown)).toHaveLength(surplus);
        expect(status.replicas).toBe(given.length);
      }),
    );
  });

  it("does not iterate over two billion replicas: it creates them in batches [R5]", () => {
    const revisions = { current: "new", update: "new", collisionCount: 0 };
    const plan = planStatefulSet(setOf(2_147_483_647, true, 0), [], revisions, 0);
    expect(plan.actions.map((action) => "ordinal" in action && action.ordinal)).toEqual(
      Array.from({ length: 500 }, (_, ordinal) => ordinal),
    );
    expect(planStatefulSet(setOf(2_147_483_647, false, 0), [], revisions, 0).actions).toHaveLength(1);
  });
});
