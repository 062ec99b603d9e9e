import { Buffer } from "node:buffer";
import { createClient } from "../client/api-client.js";
import type { Client } from "../client/client.js";
import type { Transport, TransportRequest, TransportResponse } from "../client/transport/transport.js";
import { untilAborted } from "../client/transport/transport-error.js";
import type { Clock } from "../clock/clock.js";
import { type Random, seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { Informers } from "../informer/informers.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Namespace } from "../kinds/builtin/v1.js";
import type { Condition } from "../kinds/condition.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { Cluster } from "./cluster.js";
import type { Controller } from "./controller.js";
import type { ControllerEnvironment } from "./environment.js";
import type { ObjectEvent } from "./event-recorder.js";
import { LiveController } from "./run/live-controller.js";
import { LiveWatcher } from "./run/live-watcher.js";
import type { RunRecord } from "./timeline/timeline.js";
import { Timeline } from "./timeline/timeline.js";
import type { Watcher } from "./watcher.js";

export interface Website extends KubeObject {
  readonly apiVersion: "web.example.com/v1";
  readonly kind: "Website";
  readonly spec: { readonly image: string; readonly replicas?: number; readonly paused?: boolean };
  readonly status?: { readonly ready?: number; readonly phase?: string; readonly conditions?: readonly Condition[] };
}

export const Website: Kind<Website> = {
  group: "web.example.com",
  version: "v1",
  kind: "Website",
  apiVersion: "web.example.com/v1",
  plural: "websites",
  scope: "Namespaced",
};

/** A request of a controller. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Answers a request instead of the server, or throws before it is sent; undefined lets it pass. */
export type Fault = (request: SentRequest) => TransportResponse | Error | undefined;

/** The embedded control plane, imported without a type: it depends on this package. */
interface EmbeddedControlPlane extends AsyncDisposable {
  readonly transport: Transport;
  readonly client: Client;
}
type StartControlPlane = (options: { clock: Clock; random: Random }) => Promise<EmbeddedControlPlane>;
const { controlPlane } = (await import("@setpoint/control-plane" as string)) as { controlPlane: StartControlPlane };

/** An embedded control plane with a namespace, a kind, and controllers on virtual time. */
export class World implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly timeline = new Timeline();
  readonly events: ObjectEvent[] = [];
  /** The requests of controllers, except watches. */
  readonly requests: SentRequest[] = [];
  fault: Fault | undefined;
  /** Requests that never get a response; they end with their signal. */
  hangs: ((request: SentRequest) => boolean) | undefined;
  /** Requests that reach the server, but whose responses are lost. */
  loses: ((request: SentRequest) => boolean) | undefined;
  readonly #plane: EmbeddedControlPlane;
  readonly #runs: (LiveController | LiveWatcher)[] = [];
  readonly #informers: Informers[] = [];

  private constructor(plane: EmbeddedControlPlane, clock: VirtualClock) {
    this.#plane = plane;
    this.clock = clock;
  }

  /** The same seed gives the same uids: give each of several clusters its own. */
  static async create(seed = 1): Promise<World> {
    const clock = new VirtualClock();
    const world = new World(await controlPlane({ clock, random: seededRandom(seed) }), clock);
    await world.client.create(Namespace, { metadata: { name: "team" } });
    await world.client.create(Namespace, { metadata: { name: "other" } });
    await world.client.create(CustomResourceDefinition, websiteDefinition());
    await clock.advance(5_000);
    return world;
  }

  /** The administrator's client: its requests are not counted. */
  get client(): Client {
    return this.#plane.client;
  }

  /** A new cluster object for each simulated process: only the server is shared. */
  cluster(): Cluster {
    const { clock } = this;
    const transport: Transport = {
      request: (request) => this.#send(request),
      [Symbol.asyncDispose]: async () => {},
    };
    const client = createClient({ transport, server: "in-process", clock, random: seededRandom(2) });
    const informers = new Informers(client, { clock, random: seededRandom(3) });
    this.#informers.push(informers);
    return { client, informers };
  }

  /** Runs a controller in its own simulated process. */
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  async run(controller: Controller<any>, more: Partial<ControllerEnvironment> = {}): Promise<LiveController> {
    const { clock, timeline } = this;
    const recorder = { record: (event: ObjectEvent) => void this.events.push(event) };
    const environment = { cluster: this.cluster(), clock, random: seededRandom(4), timeline, recorder, ...more };
    const run = new LiveController(controller, environment);
    this.#runs.push(run);
    void run.start().catch(() => {});
    await clock.settle();
    return run;
  }

  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  async watch(watcher: Watcher<any>, more: Partial<ControllerEnvironment> = {}): Promise<LiveWatcher> {
    const { clock } = this;
    const run = new LiveWatcher(watcher, { cluster: this.cluster(), clock, random: seededRandom(5), ...more });
    this.#runs.push(run);
    void run.start();
    await clock.settle();
    return run;
  }

  createWebsite(name: string, spec: Partial<Website["spec"]> = {}, namespace = "team"): Promise<Website> {
    return this.client.create(Website, { metadata: { name, namespace }, spec: { image: "nginx", ...spec } });
  }

  website(name: string, namespace = "team"): Promise<Website | undefined> {
    return this.client.find(Website, name, { namespace });
  }

  annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<Website> {
    const body = { metadata: { annotations } };
    return this.client.patch(Website, name, { type: "merge", body }, { namespace: "team" });
  }

  /** Requests of controllers that change something. */
  get writes(): readonly string[] {
    return this.requests
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${pathname(path)}`);
  }

  runs(key?: string): readonly RunRecord[] {
    return [...this.timeline.runs(key === undefined ? {} : { key })];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = Promise.all(this.#runs.map((run) => run.stop(0)));
    await this.clock.advance(20_000);
    await stopping;
    await Promise.all(this.#informers.map((informers) => informers[Symbol.asyncDispose]()));
    await this.#plane[Symbol.asyncDispose]();
  }

  async #send(request: TransportRequest): Promise<TransportResponse> {
    const body = request.body ? (JSON.parse(Buffer.from(request.body).toString()) as unknown) : undefined;
    const sent = { method: request.method, path: request.path, body };
    if (!request.path.includes("watch=true")) this.requests.push(sent);
    if (this.hangs?.(sent)) return untilAborted(new Promise<never>(() => {}), request.signal);
    const fault = this.fault?.(sent);
    if (fault instanceof Error) throw fault;
    const answer = fault ?? (await this.#plane.transport.request(request));
    if (!this.loses?.(sent)) return answer;
    throw new Error("the connection was cut");
  }
}

/** An error answer of a server. */
export function failure(code: number, reason: string, message = "injected"): TransportResponse {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details: { name: "x" } };
  const bytes = Buffer.from(JSON.stringify(status));
  return {
    status: code,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield bytes;
    })(),
  };
}

function pathname(path: string): string {
  return path.split("?")[0]!;
}

export function websiteDefinition() {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    metadata: { name: "websites.web.example.com" },
    spec: {
      group: "web.example.com",
      scope: "Namespaced" as const,
      names: { plural: "websites", singular: "website", kind: "Website", listKind: "WebsiteList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
        },
      ],
    },
  };
}
