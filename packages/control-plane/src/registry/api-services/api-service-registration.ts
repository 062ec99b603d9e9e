import type { KubeObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { StatusError } from "../../api/status-error.js";
import type { Change, StoredObject } from "../../storage/storage.js";
import { CRD_STORAGE, type CustomResourceDefinition } from "../crd/custom-resource-definition.js";
import { changeStatus, changeStored, planeRequest, removeStored } from "../loops/plane-write.js";
import { type LoopEnvironment, WorkLoop } from "../loops/work-loop.js";
import { createPosted } from "../write/create.js";
import { API_SERVICE_STORAGE, type ApiService, MANAGED_LABEL, withAvailable } from "./api-service.js";

const ACCOUNT = "crd-registration";
const CUSTOM_PRIORITIES = { groupPriorityMinimum: 1000, versionPriority: 100 };

/** Keeps one APIService per version that a CRD serves, and deletes those that no CRD serves any more. */
export class ApiServiceRegistration implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (name, signal) => this.#register(name, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { type, current, previous } of changes) {
      if (current.resource === API_SERVICE_STORAGE && type !== "added") this.#loop.add(current.key);
      if (current.resource !== CRD_STORAGE) continue;
      for (const state of [current, previous]) {
        const { group, versions = [] } = (state?.object as CustomResourceDefinition | undefined)?.spec ?? {};
        for (const { name } of versions) this.#loop.add(`${name}.${group}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  /** `name` is `version.group`. */
  async #register(name: string, signal: AbortSignal): Promise<void> {
    const { storage, catalog } = this.#environment;
    const version = name.slice(0, name.indexOf("."));
    const group = name.slice(version.length + 1);
    const present = storage.get(API_SERVICE_STORAGE, name);
    if (present !== undefined) await this.#setAvailable(present, signal);
    if (catalog.isBuiltInGroup(group)) return;
    const isServed = catalog.groups.some(
      (each) => each.name === group && each.versions.some((served) => served.version === version),
    );
    const isOurs = present?.object.metadata.labels?.[MANAGED_LABEL] === "true";
    if (present !== undefined && isOurs && !isServed) {
      await removeStored(this.#environment, present, ACCOUNT, "Background", signal);
    } else if (present === undefined && isServed) {
      await this.#create(name, group, version, signal);
    } else if (present !== undefined && isOurs) {
      const spec = { group, version, ...CUSTOM_PRIORITIES };
      await changeStored(this.#environment, present, ACCOUNT, signal, (object) => ({ ...object, spec }) as KubeObject);
    }
  }

  /** A local APIService is available, whatever clients write to its status. */
  async #setAvailable(stored: StoredObject, signal: AbortSignal): Promise<void> {
    const now = formatTime(this.#environment.clock.now());
    if (withAvailable(stored.object as ApiService, now) === stored.object) return;
    await changeStatus(this.#environment, stored, ACCOUNT, "kube-apiserver", signal, (object) =>
      withAvailable(object as ApiService, now),
    );
  }

  async #create(name: string, group: string, version: string, signal: AbortSignal): Promise<void> {
    const definition = this.#environment.catalog.stored(API_SERVICE_STORAGE)!;
    const request = { ...planeRequest(definition, "", ACCOUNT, signal), fieldManager: "kube-apiserver" };
    const object = {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name, labels: { [MANAGED_LABEL]: "true" } },
      spec: { group, version, ...CUSTOM_PRIORITIES },
    };
    try {
      await createPosted(this.#environment, request, () => object as never);
    } catch (error) {
      if (!(error instanceof StatusError && error.status.code === 409)) throw error;
    }
  }
}
