import fc from "fast-check";
import { formatTime } from "setpoint/kinds";
import type { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { deletionOrder } from "./deletion-rank.js";

const NOW_MS = Date.UTC(2026, 0, 2);

interface Shape {
  readonly node: string | undefined;
  readonly phase: "Pending" | "Running";
  readonly readyForMs: number | undefined;
  readonly cost: number;
  readonly restarts: number;
  readonly ageMs: number;
}

const podOf = (shape: Shape, index: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `p${index}`,
    uid: `u${index}`,
    resourceVersion: "1",
    creationTimestamp: formatTime(NOW_MS - shape.ageMs),
    annotations: { "controller.kubernetes.io/pod-deletion-cost": String(shape.cost) },
  },
  spec: { containers: [], ...(shape.node && { nodeName: shape.node }) },
  status: {
    phase: shape.phase,
    containerStatuses: [{ name: "a", image: "", imageID: "", ready: true, restartCount: shape.restarts }],
    ...(shape.readyForMs !== undefined && {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: formatTime(NOW_MS - shape.readyForMs) }],
    }),
  },
});

const plain: Shape = { node: "n", phase: "Running", readyForMs: 60_000, cost: 0, restarts: 0, ageMs: 3_600_000 };
const order = (...shapes: readonly Shape[]): readonly string[] => {
  const pods = shapes.map(podOf);
  return deletionOrder(pods, pods, NOW_MS).map(({ metadata }) => metadata.name);
};

describe("deletionOrder", () => {
  it("depends on node, phase, readiness, cost, neighbours, time of readiness and restarts", () => {
    expect(order(plain, { ...plain, node: undefined, phase: "Pending", readyForMs: undefined })).toEqual(["p1", "p0"]);
    expect(order(plain, { ...plain, phase: "Pending" })).toEqual(["p1", "p0"]);
    expect(order(plain, { ...plain, readyForMs: undefined })).toEqual(["p1", "p0"]);
    expect(order(plain, { ...plain, cost: -1 })).toEqual(["p1", "p0"]);
    expect(order({ ...plain, node: "m" }, plain, plain)[2]).toBe("p0");
    expect(order(plain, { ...plain, readyForMs: 1_000 })).toEqual(["p1", "p0"]);
    expect(order(plain, { ...plain, restarts: 4 })).toEqual(["p1", "p0"]);
    expect(order(plain, { ...plain, ageMs: 1_000 })).toEqual(["p1", "p0"]);
    expect(order(plain, plain)).toEqual(["p0", "p1"]);
  });

  it("is the same for any order of the pods", () => {
    const shape = fc.record<Shape>({
      node: fc.constantFrom(undefined, "n", "m"),
      phase: fc.constantFrom("Pending", "Running"),
      readyForMs: fc.option(fc.integer({ min: 1_000, max: 10_000_000 }), { nil: undefined }),
      cost: fc.integer({ min: -2, max: 2 }),
      restarts: fc.integer({ min: 0, max: 2 }),
      ageMs: fc.integer({ min: 1_000, max: 100_000_000 }),
    });
    fc.assert(
      fc.property(fc.array(shape, { minLength: 2, maxLength: 6 }), (shapes) => {
        const pods = shapes.map(podOf);
        for (const [left, right] of pairs(pods)) {
          expect(deletionOrder([left, right], pods, NOW_MS)[0]).toBe(deletionOrder([right, left], pods, NOW_MS)[0]);
        }
      }),
    );
  });
});

function pairs(pods: readonly Pod[]): readonly (readonly [Pod, Pod])[] {
  return pods.flatMap((left, at) => pods.slice(at + 1).map((right) => [left, right] as const));
}
