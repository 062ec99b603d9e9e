import type { Client, Kind } from "setpoint";
import { systemClock } from "setpoint/clock";
import { Event, Namespace } from "setpoint/kinds/v1";
import { ASSIGNED_ANNOTATION } from "./assignment.js";
import { Project } from "./project.js";

export const PROJECT_KEY = "field.cattle.io/projectId";
const CLUSTER = "field.cattle.io/clusterId";

/** The actions and observations of an administrator while the operator works, on any server and in real time. */
export class World {
  step = "";
  readonly #admin: Client;
  readonly #signal: AbortSignal;

  constructor(admin: Client, signal: AbortSignal) {
    this.#admin = admin;
    this.#signal = signal;
  }

  /** A CRD is served after a moment. */
  untilServed(): Promise<void> {
    return this.#until(async () => (await this.#admin.list(Project).catch(() => undefined)) !== undefined);
  }

  async project(
    name: string,
    displayName: unknown,
    namespace = "local",
    labels: Record<string, string> = {},
  ): Promise<void> {
    await this.#admin.create(Project, { metadata: { name, namespace, labels }, spec: { displayName } });
  }

  async remove(kind: Kind, name: string, namespace?: string): Promise<void> {
    await this.#admin.delete(kind, name, namespace === undefined ? {} : { namespace });
  }

  async revision(name: string): Promise<string> {
    return (await this.#admin.get(Namespace, name)).metadata.resourceVersion;
  }

  /** Only its creator has written it. */
  async expectUntouched(name: string): Promise<void> {
    const { managedFields = [], annotations = {} } = (await this.#admin.get(Namespace, name)).metadata;
    this.expect(managedFields.length === 1 && annotations[ASSIGNED_ANNOTATION] === undefined);
  }

  expect(isTrue: boolean): void {
    if (!isTrue) throw new Error(`${this.step}: did not hold`);
  }

  async namespace(name: string, labels: Record<string, string>): Promise<void> {
    await this.#admin.create(Namespace, { metadata: { name, labels } });
  }

  async label(name: string, labels: Record<string, string | null>): Promise<void> {
    await this.#admin.patch(Namespace, name, { type: "merge", body: { metadata: { labels } } });
  }

  untilAssigned(name: string, expected: readonly (string | undefined)[]): Promise<void> {
    return this.#until(async () => {
      const { labels = {}, annotations = {} } = (await this.#admin.get(Namespace, name)).metadata;
      const found = [labels[PROJECT_KEY], labels[CLUSTER], annotations[PROJECT_KEY]];
      return found.every((value, at) => value === expected[at]);
    });
  }

  /** Resolves to the event's message. */
  async untilEvent(name: string, reason: string): Promise<string> {
    let message: string | undefined;
    await this.#until(async () => {
      const { items } = await this.#admin.list(Event, { namespace: "default" });
      message = items.find((event) => event.involvedObject.name === name && event.reason === reason)?.message;
      return message !== undefined;
    });
    return message!;
  }

  async #until(isTrue: () => Promise<boolean>): Promise<void> {
    while (!(await isTrue())) {
      if (this.#signal.aborted) throw new Error(`${this.step} did not come true`);
      await systemClock.sleep(20);
    }
  }
}
