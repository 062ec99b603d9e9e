import type { EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import type { Node, Pod, Service } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { planSlices } from "./endpoint-slice-plan.js";

const service = {
  metadata: { name: "web", namespace: "default", uid: "web" },
  spec: { clusterIP: "10.0.0.9", selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] },
} as unknown as Service;

const pod = (
  at: number,
  changes: { readonly port?: number; readonly ready?: boolean; readonly phase?: string } = {},
): Pod => {
  const { port = 8080, ready = true, phase = "Running" } = changes;
  return {
    metadata: { name: `p-${at}`, namespace: "default", uid: `uid-${at}` },
    spec: { nodeName: "n", containers: [{ name: "main", ports: [{ name: "http", containerPort: port }] }] },
    status: {
      phase,
      podIPs: [{ ip: `10.1.0.${at}` }],
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    },
  } as unknown as Pod;
};

const NODES = new Map([["n", { metadata: { name: "n" } } as Node]]);
const pods = (count: number): readonly Pod[] => Array.from({ length: count }, (_, at) => pod(at));
const plan = (some: readonly Pod[], slices: readonly EndpointSlice[] = []) => planSlices(service, some, NODES, slices);

/** The slices of a plan, as the server stores them. */
const stored = (some: readonly Pod[]): readonly EndpointSlice[] =>
  plan(some).create.map((slice, at) => ({ ...slice, metadata: { ...slice.metadata, name: `slice-${at}` } })) as never;

describe("the slices of a service", () => {
  it("hold at most a hundred endpoints, and there is one empty slice without endpoints", () => {
    expect(stored(pods(250)).map(({ endpoints }) => endpoints?.length)).toEqual([100, 100, 50]);
    expect(stored([])).toMatchObject([{ endpoints: [], ports: [] }]);
  });

  it("stay as they are while nothing changes", () => {
    expect(plan(pods(150), stored(pods(150)))).toEqual({ create: [], change: [], remove: [] });
  });

  it("change only where a pod changed", () => {
    const changed = pods(150).map((each, at) => (at === 120 ? pod(120, { ready: false }) : each));
    const { create, change, remove } = plan(changed, stored(pods(150)));
    expect([create, remove]).toEqual([[], []]);
    expect(change.map(({ name }) => name)).toEqual(["slice-1"]);
    expect(change[0]?.body.endpoints[20]?.conditions).toEqual({ ready: false, serving: false, terminating: false });
  });

  it("are deleted with their last endpoint, and filled with new ones", () => {
    const slices = stored(pods(150));
    expect(plan(pods(100), slices)).toMatchObject({ create: [], change: [], remove: ["slice-1"] });
    expect(plan(pods(151), slices)).toMatchObject({ create: [], change: [{ name: "slice-1" }], remove: [] });
  });

  it("are reused, so that there is never an empty slice beside a full one", () => {
    const { create, change, remove } = plan([pod(1)], stored([]));
    expect([create, remove]).toEqual([[], []]);
    expect(change).toMatchObject([{ name: "slice-0", body: { ports: [{ port: 8080 }], endpoints: [{}] } }]);
    const emptied = plan([], stored([pod(1), pod(2, { port: 9090 })]));
    expect(emptied).toMatchObject({
      create: [],
      change: [{ name: "slice-0", body: { ports: [] } }],
      remove: ["slice-1"],
    });
  });

  it("are separate for pods with different ports, and leave out finished pods", () => {
    const slices = stored([pod(1), pod(2, { port: 9090 }), pod(3, { phase: "Succeeded" })]);
    expect(slices.map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints?.length])).toEqual([
      [8080, 1],
      [9090, 1],
    ]);
  });
});
