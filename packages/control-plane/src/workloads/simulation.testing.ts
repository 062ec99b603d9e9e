import type { Client, Kind, KubeObject } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Event, Pod, type PodTemplateSpec } from "setpoint/kinds/v1";
import { VirtualClock } from "setpoint/testing";
import { type ControlPlane, controlPlane } from "../control-plane.js";
import type { WorkloadChoice } from "./workload-choice.js";

/** A control plane with workloads, on virtual time. */
export class Simulation implements AsyncDisposable {
  readonly clock: VirtualClock;
  /** Internal errors. */
  readonly failures: string[];
  readonly #plane: ControlPlane;

  private constructor(clock: VirtualClock, plane: ControlPlane, failures: string[]) {
    this.clock = clock;
    this.#plane = plane;
    this.failures = failures;
  }

  static async start(workloads: WorkloadChoice = true): Promise<Simulation> {
    const clock = new VirtualClock();
    const failures: string[] = [];
    const log = (message: string, error: unknown): void => void failures.push(`${message}: ${String(error)}`);
    const plane = await controlPlane({ clock, random: seededRandom(1), workloads, log });
    await clock.advance(1_000);
    return new Simulation(clock, plane, failures);
  }

  get client(): Client {
    return this.#plane.client;
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1_000);
  }

  get<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T> {
    return this.client.get(kind, name, kind.scope === "Cluster" ? {} : { namespace: "default" });
  }

  find<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T | undefined> {
    return this.client.find(kind, name, kind.scope === "Cluster" ? {} : { namespace: "default" });
  }

  async list<T extends KubeObject>(kind: Kind<T>, labelSelector?: string): Promise<readonly T[]> {
    return (await this.client.list(kind, labelSelector ? { labelSelector } : {})).items;
  }

  pods(labelSelector?: string): Promise<readonly Pod[]> {
    return this.list(Pod, labelSelector);
  }

  /** Changes an object by a merge patch. */
  change<T extends KubeObject>(kind: Kind<T>, name: string, body: object): Promise<T> {
    const scope = kind.scope === "Cluster" ? {} : { namespace: "default" };
    return this.client.patch(kind, name, { type: "merge", body: body as never }, scope);
  }

  createDeployment(name: string, spec: Partial<Deployment["spec"]> = {}, script: Record<string, string> = {}) {
    const { selector, template } = labelled(name, script);
    return this.client.create(Deployment, {
      metadata: { name, namespace: "default" },
      spec: { selector, template, ...spec },
    });
  }

  createPod(name: string, script: Record<string, string> = {}, spec: Partial<Pod["spec"]> = {}): Promise<Pod> {
    const { template } = labelled(name, script);
    return this.client.create(Pod, {
      metadata: { name, namespace: "default", ...template.metadata },
      spec: { ...template.spec, ...spec },
    });
  }

  /** The content of the control plane's `/metrics`. */
  async metrics(): Promise<string> {
    const { body } = await this.#plane.transport.request({ method: "GET", path: "/metrics", headers: {} });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  /** `Reason: message` of all events of an object, oldest first. */
  async events(name: string): Promise<readonly string[]> {
    const events = (await this.list(Event)).filter(({ involvedObject }) => involvedObject.name === name);
    return events.map(({ reason, message }) => `${reason}: ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.#plane.stop();
    await this.clock.advance(5_000);
    await stopping;
  }
}

/** A selector, and a template that it matches, with a script of `simulation.setpoint.dev/…`. */
export function labelled(app: string, script: Readonly<Record<string, string>> = {}, image = "nginx") {
  const annotations = Object.fromEntries(
    Object.entries(script).map(([name, value]) => [`simulation.setpoint.dev/${name}`, value]),
  );
  const template: PodTemplateSpec = {
    metadata: { labels: { app }, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: { containers: [{ name: "main", image }] },
  };
  return { selector: { matchLabels: { app } }, template };
}
