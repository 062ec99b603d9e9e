import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type Client,
  type Controller,
  connect,
  controller,
  isAlreadyExists,
  type Logger,
  type ReconcileContext,
  type Trigger,
} from "setpoint";
import { systemRandom } from "setpoint/clock";
import type { GraphResource } from "setpoint/graph";
import { resourceKey } from "setpoint/graph";
import { installCrd } from "setpoint/kinds";
import { Manager } from "setpoint/manager";
import type { Problem } from "../project/source-text.js";
import type { Pipelines } from "../runtime/pipelines.js";
import { refresh } from "../runtime/refresh.js";
import {
  labelValue,
  type MirroredKind,
  type MirroredObject,
  mirroredKind,
  objectName,
  PROJECT_LABEL,
  REFRESH_ANNOTATION,
} from "./mirrored-kind.js";
import { desiredSpec, desiredStatus, readyCondition } from "./mirrored-object.js";

export interface MirrorOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly log?: Logger;
}

const FAILURES = ["Failed", "FileInvalid", "DependencyFailed"];

/**
 * Shows the resources of a project as custom resources: their specs mirror the files, their conditions mirror the
 * tables. The files stay the only source. The mirror reverts an edit of an object, creates a deleted object again, and
 * deletes an object without a file, even if the file went away while no process ran.
 */
export class Mirror implements AsyncDisposable {
  readonly #pipelines: Pipelines;
  readonly #options: MirrorOptions;
  readonly #kinds: ReadonlyMap<string, MirroredKind>;
  readonly #project: string;
  readonly #enqueue = new Map<string, (key: string) => void>();
  /** Objects that exist, by kind and name. A change of their resource needs no create request. */
  readonly #made = new Set<string>();
  readonly #manager: Manager;
  readonly #subscriptions: Disposable[] = [];

  private constructor(pipelines: Pipelines, options: MirrorOptions) {
    this.#pipelines = pipelines;
    this.#options = options;
    this.#project = labelValue(basename(pipelines.folder.project));
    this.#kinds = new Map(pipelines.kindNames.map((name) => [name, mirroredKind(name)]));
    this.#manager = new Manager({
      name: "pipelines",
      client: options.client,
      preflight: false,
      ...(options.log ? { log: options.log } : {}),
    });
  }

  /** Installs the CRDs, creates missing objects and starts to follow changes. */
  static async start(pipelines: Pipelines, options: MirrorOptions): Promise<Mirror> {
    const mirror = new Mirror(pipelines, options);
    for (const kind of mirror.#kinds.values()) await installCrd(options.client, kind.crd());
    for (const name of mirror.#kinds.keys()) await mirror.#manager.add(mirror.#controller(name));
    mirror.#subscriptions.push(
      pipelines.graph.subscribe((event) => {
        if (event.type === "changed") void mirror.#show(event.resource);
        else mirror.#look(event.name.kind, event.name.name);
      }),
      pipelines.onProject(() => void mirror.#showAll()),
    );
    await mirror.#manager.start();
    await mirror.#showAll();
    return mirror;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#manager[Symbol.asyncDispose]();
  }

  async #showAll(): Promise<void> {
    for (const resource of this.#pipelines.graph.list()) await this.#show(resource);
  }

  /** Creates the object if it is missing. Its controller does the rest. */
  async #show(resource: GraphResource): Promise<void> {
    const { kind: kindName, name } = resource.meta.name;
    const { client, namespace, log } = this.#options;
    const kind = this.#kinds.get(kindName)?.kind;
    const id = `${kindName}/${objectName(name)}`;
    if (!kind || resource.meta.deletedOn !== undefined || this.#made.has(id)) return this.#look(kindName, name);
    const metadata = { name: objectName(name), namespace, labels: { [PROJECT_LABEL]: this.#project } };
    try {
      this.#made.add(id);
      await client.create(kind, { metadata, spec: desiredSpec(resource) });
    } catch (error) {
      if (isAlreadyExists(error)) return this.#look(kindName, name);
      this.#made.delete(id);
      log?.warn(`${kindName}/${name} cannot be shown`, { error });
    }
  }

  #look(kind: string, name: string): void {
    this.#enqueue.get(kind)?.(`${this.#options.namespace}/${objectName(name)}`);
  }

  /** The resource of an object, by the object's name. */
  #resourceOf(kind: string, name: string): GraphResource | undefined {
    return this.#pipelines.graph.list({ kind }).find(({ meta }) => objectName(meta.name.name) === name);
  }

  #controller(kindName: string): Controller<MirroredObject> {
    const { kind } = this.#kinds.get(kindName)!;
    const changed: Trigger = {
      name: "the graph",
      start: ({ enqueue, signal }) => {
        this.#enqueue.set(kindName, enqueue);
        signal.addEventListener("abort", () => this.#enqueue.delete(kindName), { once: true });
      },
    };
    return controller(kind, {
      name: `pipelines-${kindName.toLowerCase()}`,
      namespaces: [this.#options.namespace],
      labelSelector: `${PROJECT_LABEL}=${this.#project}`,
      writes: ["create", "patch", "delete"],
      triggers: [changed],
      reconcile: async (object, ctx) => {
        const { name, uid } = object.metadata;
        const resource = this.#resourceOf(kindName, name);
        if (!resource) return ctx.delete(kind, name, { preconditions: { uid } });
        await this.#mirrorSpec(object, resource, ctx);
        this.#refreshWhereAsked(object, resource, ctx);
        this.#mirrorStatus(object, resource, ctx);
      },
      gone: async (key) => {
        const name = key.split("/").at(-1)!;
        this.#made.delete(`${kindName}/${name}`);
        const resource = this.#resourceOf(kindName, name);
        if (resource) await this.#show(resource);
      },
    });
  }

  async #mirrorSpec(
    object: MirroredObject,
    resource: GraphResource,
    ctx: ReconcileContext<MirroredObject>,
  ): Promise<void> {
    const { kind } = this.#kinds.get(resource.meta.name.kind)!;
    const spec = desiredSpec(resource);
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(object.spec)), spec)) return;
    if (ctx.changedPaths().some((path) => path.startsWith("spec"))) {
      ctx.event("Warning", "Reverted", `the files say otherwise: ${resource.meta.paths.join(", ")}`);
    }
    const operations = [{ op: "replace", path: "/spec", value: spec } as const];
    await ctx.patch(kind, object.metadata.name, { type: "json", operations });
  }

  /** Acts once for each value of the refresh annotation. The status stores the last value. */
  #refreshWhereAsked(object: MirroredObject, resource: GraphResource, ctx: ReconcileContext<MirroredObject>): void {
    const asked = object.metadata.annotations?.[REFRESH_ANNOTATION];
    if (asked === undefined || asked === object.status?.lastRefresh) return;
    ctx.status({ lastRefresh: asked });
    ctx.event("Normal", "RefreshRequested", `the annotation ${REFRESH_ANNOTATION} asks for a refresh`);
    const { kind, name } = resource.meta.name;
    const order = { names: [`${kind}/${name}`], full: asked.startsWith("full"), partitions: [], preview: false };
    void refresh(this.#pipelines, order, systemRandom).catch((error: unknown) => {
      this.#options.log?.warn(`${kind}/${name} cannot be refreshed`, { error });
    });
  }

  #mirrorStatus(object: MirroredObject, resource: GraphResource, ctx: ReconcileContext<MirroredObject>): void {
    const status = desiredStatus(resource);
    if (status.runId !== undefined && status.runId !== object.status?.runId) {
      ctx.event("Normal", "Executed", `run ${status.runId}: ${status.rows ?? 0} rows`);
    }
    const condition = readyCondition(resource, this.#problemOf(resource));
    const before = object.status?.conditions?.find(({ type }) => type === "Ready");
    if (FAILURES.includes(condition.reason) && before?.message !== condition.message) {
      ctx.event("Warning", condition.reason, condition.message ?? "");
    }
    ctx.status(status);
    ctx.condition(condition);
  }

  #problemOf({ meta }: GraphResource): Problem | undefined {
    return this.#pipelines.project.broken.find(({ name }) => resourceKey(name) === resourceKey(meta.name))?.problem;
  }
}

/** Connects by a kubeconfig, and mirrors the project to that cluster. */
export async function mirrorTo(
  pipelines: Pipelines,
  options: {
    readonly kubeconfig: string;
    readonly context?: string;
    /** Defaults to the namespace of the context. */
    readonly namespace?: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly log?: Logger;
  },
): Promise<AsyncDisposable> {
  const { namespace: given, log, ...where } = options;
  const client = await connect(where);
  const namespace = given ?? client.namespace;
  const close = () => client[Symbol.asyncDispose]();
  try {
    const mirror = await Mirror.start(pipelines, { client, namespace, ...(log ? { log } : {}) });
    return {
      async [Symbol.asyncDispose]() {
        await mirror[Symbol.asyncDispose]();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
