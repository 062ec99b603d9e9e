import { createClient, type Transport } from "setpoint/client";
import { type Clock, seededRandom } from "setpoint/clock";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import { CronJob, Job } from "setpoint/kinds/batch/v1";
import { EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import { Endpoints, Pod, ReplicationController, Service } from "setpoint/kinds/v1";
import { VirtualClock } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../control-plane.js";
import { labelled } from "./simulation.testing.js";
import { WORKLOAD_NAMES } from "./workload-choice.js";
import { startWorkloads } from "./workloads.js";

const LAG_MS = 3_000;

/** Watches lag behind the server; requests do not. */
function lagging(transport: Transport, clock: Clock, onCreate: (path: string) => void): Transport {
  async function* late(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      await clock.sleep(LAG_MS);
      yield chunk;
    }
  }
  return {
    async request(request) {
      const response = await transport.request(request);
      if (request.method === "POST" && response.status === 201) onCreate(request.path.split("?")[0]!);
      return /[?&]watch=/.test(request.path) ? { ...response, body: late(response.body) } : response;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

class LaggingSimulation implements AsyncDisposable {
  readonly created: string[] = [];
  readonly clock = new VirtualClock();
  #plane!: ControlPlane;
  #workloads!: AsyncDisposable;

  static async start(): Promise<LaggingSimulation> {
    const simulation = new LaggingSimulation();
    const { clock } = simulation;
    const random = seededRandom(1);
    const plane = await controlPlane({ clock, random });
    const transport = lagging(plane.transport, clock, (path) => simulation.created.push(path.split("/").at(-1)!));
    const controllerClient = createClient({ transport, server: "in-process", clock, random });
    const { client } = plane;
    const starting = startWorkloads({ client, controllerClient, clock, random, names: WORKLOAD_NAMES });
    await clock.advance(10 * LAG_MS);
    simulation.#plane = plane;
    simulation.#workloads = await starting;
    return simulation;
  }

  get client() {
    return this.#plane.client;
  }

  /** The number of objects of a resource that the controllers have created. */
  made(resource: string): number {
    return this.created.filter((each) => each === resource).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.#workloads[Symbol.asyncDispose]().then(() => this.#plane.stop());
    await this.clock.advance(60_000);
    await stopping;
  }
}

const metadata = { name: "web", namespace: "default" };
const LONG_MS = 120_000;

describe("controllers whose watches lag create each child once", () => {
  it("of a ReplicaSet, a ReplicationController and a Deployment", async () => {
    await using simulation = await LaggingSimulation.start();
    await simulation.client.create(ReplicaSet, { metadata, spec: { replicas: 3, ...labelled("web") } });
    const { template } = labelled("rc");
    await simulation.client.create(ReplicationController, {
      metadata,
      spec: { replicas: 2, selector: { app: "rc" }, template },
    });
    await simulation.client.create(Deployment, { metadata, spec: { replicas: 4, ...labelled("other") } });
    await simulation.clock.advance(LONG_MS);
    expect((await simulation.client.list(Pod)).items).toHaveLength(9);
    expect([simulation.made("replicasets"), simulation.made("pods")]).toEqual([1, 9]);
  });

  it("of a StatefulSet and a DaemonSet", async () => {
    await using simulation = await LaggingSimulation.start();
    await simulation.client.create(StatefulSet, {
      metadata,
      spec: { replicas: 3, serviceName: "", ...labelled("web") },
    });
    await simulation.client.create(DaemonSet, { metadata, spec: labelled("daemon") });
    await simulation.clock.advance(LONG_MS);
    expect((await simulation.client.list(Pod)).items).toHaveLength(4);
    expect([simulation.made("controllerrevisions"), simulation.made("pods")]).toEqual([2, 4]);
  });

  it("of a Job and a CronJob", async () => {
    await using simulation = await LaggingSimulation.start();
    const template = { spec: { ...labelled("web").template.spec!, restartPolicy: "Never" as const } };
    const spec = { completions: 6, parallelism: 2, template };
    await simulation.client.create(Job, { metadata, spec });
    await simulation.clock.advance(LONG_MS);
    expect([(await simulation.client.get(Job, "web", metadata)).status?.succeeded, simulation.made("pods")]).toEqual([
      6, 6,
    ]);
    await simulation.client.create(CronJob, {
      metadata,
      spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } },
    });
    await simulation.clock.advance(180_000);
    expect([simulation.made("jobs"), simulation.made("pods")]).toEqual([3, 9]);
  });

  it("of a Service and of Endpoints that somebody made", async () => {
    await using simulation = await LaggingSimulation.start();
    const ports = [{ name: "http", port: 80, targetPort: 8080 }];
    await simulation.client.create(Service, { metadata, spec: { selector: { app: "web" }, ports } });
    await simulation.client.create(ReplicaSet, { metadata, spec: { replicas: 3, ...labelled("web") } });
    await simulation.client.create(Service, { metadata: { ...metadata, name: "far" }, spec: { ports } });
    const subsets = [{ addresses: [{ ip: "10.9.9.1" }], ports: [{ port: 80 }] }];
    await simulation.client.create(Endpoints, { metadata: { ...metadata, name: "far" }, subsets });
    await simulation.clock.advance(LONG_MS);
    const slices = (await simulation.client.list(EndpointSlice, { namespace: "default" })).items;
    const ours = slices.filter(({ metadata: { labels } }) => labels?.["kubernetes.io/service-name"] !== "kubernetes");
    expect(ours.map(({ endpoints }) => endpoints?.length).sort()).toEqual([1, 3]);
    expect(simulation.made("endpointslices")).toBe(2);
  });
});
