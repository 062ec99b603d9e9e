import { type Client, connect, isNotServed, Manager, systemClock, type Transport } from "setpoint";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Event, Namespace } from "setpoint/kinds/v1";
import { errorAnswer, type SentRequest } from "setpoint/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startKubernetes } from "../../../tools/kubernetes/start.mjs";
import { Project } from "./project.js";
import { projectCrd } from "./project-crd.js";
import { rancherProjects } from "./rancher-projects.js";

type Fault = (request: Pick<SentRequest, "method" | "path">) => ReturnType<typeof errorAnswer> | undefined;

const faulty = (transport: Transport, fault: Fault): Transport => ({
  request: async (request) => fault(request) ?? transport.request(request),
  [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
});

/** The first `times` requests that match get this answer. */
function firstTimes(
  times: number,
  matches: (request: Parameters<Fault>[0]) => boolean,
  answer: () => ReturnType<typeof errorAnswer>,
): Fault & { left: () => number } {
  let left = times;
  const fault: Fault = (request) => (left > 0 && matches(request) && left-- > 0 ? answer() : undefined);
  return Object.assign(fault, { left: () => left });
}

describe("on a real server", () => {
  let cluster: Awaited<ReturnType<typeof startKubernetes>>;
  let admin: Client;

  beforeAll(async () => {
    cluster = await startKubernetes({});
    admin = await connect({ kubeconfig: cluster.kubeconfig });
    await admin.create(CustomResourceDefinition, projectCrd);
    await admin.create(Namespace, { metadata: { name: "local" } });
    await until(async () => {
      await admin.list(Project).catch((error: unknown) => {
        if (!isNotServed(error)) throw error;
        throw new Error("not yet");
      });
    });
    await until(() =>
      admin.create(Project, { metadata: { name: "p-dev", namespace: "local" }, spec: { displayName: "Dev Ops" } }),
    );
  }, 120_000);

  afterAll(async () => {
    await admin?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  /** Runs the operator with a fault until the namespace is in its project. */
  async function assignedDespite(name: string, fault: Fault): Promise<void> {
    await using client = await connect({
      kubeconfig: cluster.kubeconfig,
      wrap: (transport) => faulty(transport, fault),
    });
    await using manager = new Manager({ client, graceMs: 1_000 });
    manager.add(rancherProjects({ normalise: true }));
    await admin.create(Namespace, { metadata: { name, labels: { appOwner: "dev-ops" } } });
    await manager.start();
    await until(async () => {
      const { labels } = (await admin.get(Namespace, name)).metadata;
      expect(labels?.["field.cattle.io/projectId"]).toBe("p-dev");
    });
  }

  it("R9, R21: a list of projects that fails is retried, and a normalised name found", {
    timeout: 120_000,
  }, async () => {
    const fault = firstTimes(
      3,
      ({ path }) => path.includes("/projects"),
      () => errorAnswer(500, "InternalError"),
    );
    await assignedDespite("nine", fault);
    expect(fault.left()).toBe(0);
  });

  it("R10: a patch that is denied is retried, and the event names the permission", { timeout: 120_000 }, async () => {
    const denial = 'admission webhook "rancher.cattle.io.namespaces" denied the request: Unauthorized';
    const isPatch: Parameters<typeof firstTimes>[1] = ({ method, path }) =>
      method === "PATCH" && path.includes("/namespaces/ten");
    const fault = firstTimes(2, isPatch, () => errorAnswer(403, "Forbidden", denial));
    await assignedDespite("ten", fault);
    expect(fault.left()).toBe(0);
    await until(async () => {
      const { items } = await admin.list(Event, { namespace: "default", fieldSelector: "involvedObject.name=ten" });
      expect(items.map(({ reason, message }) => `${reason} ${message}`).join()).toMatch(
        /AssignmentDenied.*manage-namespaces/,
      );
    });
  });
});

/** Tries until it does not throw, for a minute at most. */
async function until(attempt: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (tries >= 600) throw error;
      await systemClock.sleep(100);
    }
  }
}
