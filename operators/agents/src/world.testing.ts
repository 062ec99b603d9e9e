import type { KubeObject, NewObject } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Secret } from "setpoint/kinds/v1";
import { type AgentsOptions, agents } from "./agents-app.js";
import type { ToolTarget } from "./controllers/shared.js";
import type { Store } from "./database/store.js";
import type { ToolList } from "./discovery/mcp-session.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { type Environment, NS, type Place, virtualPlace } from "./place.testing.js";

export { NS } from "./place.testing.js";

/** The response of a server in a test: tools, an error, or none. */
export type Answer = readonly string[] | Error | "hang";

export const toolList = (...names: readonly string[]): ToolList => ({
  tools: names.map((name) => ({ name, description: `does ${name}` })),
  announcesChanges: false,
});

/** The operator at a place: by default on an embedded control plane and virtual time. Its tool servers are a table. */
export class World implements AsyncDisposable {
  readonly env: Environment;
  readonly store: Store;
  /** By URL. */
  readonly answers = new Map<string, Answer>();
  /** Each probed target, in order. */
  readonly asked: ToolTarget[] = [];

  private constructor(env: Environment, store: Store) {
    this.env = env;
    this.store = store;
  }

  static async create(options: Partial<AgentsOptions> = {}, place: Place = virtualPlace): Promise<World> {
    const env = await place.environment();
    const store = options.store ?? (await place.store(env.clock));
    const world = new World(env, store);
    await world.start(options);
    return world;
  }

  async start(options: Partial<AgentsOptions> = {}): Promise<void> {
    const { clock } = this.env;
    const ask = async (target: ToolTarget, signal: AbortSignal): Promise<ToolList> => {
      this.asked.push(target);
      const answer = this.answers.get(target.url) ?? new Error("connection refused");
      if (answer instanceof Error) throw answer;
      if (answer === "hang")
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return toolList(...(answer as readonly string[]));
    };
    const part = agents({ admission: false, random: seededRandom(1), ask, ...options, clock, store: this.store });
    await this.env.start([part]);
  }

  async secret(name: string, data: Readonly<Record<string, string>>, namespace = NS): Promise<void> {
    const encoded = Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    );
    const found = await this.env.client.find(Secret, name, { namespace });
    if (found) await this.env.client.patch(Secret, name, { type: "merge", body: { data: encoded } }, { namespace });
    else await this.env.client.create(Secret, { metadata: { name, namespace }, data: encoded });
    await this.env.idle();
  }

  async configMap(name: string, data: Record<string, string>): Promise<void> {
    await this.env.client.create(ConfigMap, { metadata: { name, namespace: NS }, data });
    await this.env.idle();
  }

  async model(name = "model", spec: object = {}): Promise<void> {
    const body = { provider: "OpenAI", model: "gpt-4o", apiKeySecret: "key", apiKeySecretKey: "api-key", ...spec };
    await this.env.client.create(ModelConfig, {
      metadata: { name, namespace: NS },
      spec: body,
    } as NewObject<ModelConfig>);
    await this.env.idle();
  }

  /** The Secret and the ModelConfig that agents use by default. */
  async basics(): Promise<void> {
    await this.secret("key", { "api-key": "sk-first-value" });
    await this.model();
  }

  async server(name: string, url: string, spec: object = {}, metadata: object = {}): Promise<void> {
    const object = { metadata: { name, namespace: NS, ...metadata }, spec: { description: "d", url, ...spec } };
    await this.env.client.create(RemoteMCPServer, object as NewObject<RemoteMCPServer>);
    await this.env.idle();
  }

  async agent(name: string, declarative: object = {}, spec: object = {}, metadata: object = {}): Promise<void> {
    const object = {
      metadata: { name, namespace: NS, ...metadata },
      spec: {
        type: "Declarative",
        declarative: { systemMessage: "Help.", modelConfig: "model", ...declarative },
        ...spec,
      },
    };
    await this.env.client.create(Agent, object as unknown as NewObject<Agent>);
    await this.env.idle();
  }

  async edit(
    kind: typeof Agent | typeof RemoteMCPServer | typeof ModelConfig,
    name: string,
    body: object,
  ): Promise<void> {
    await this.env.client.patch(kind as never, name, { type: "merge", body: body as never }, { namespace: NS });
    await this.env.idle();
  }

  async condition(kind: { readonly kind: string }, name: string, type: string, namespace = NS) {
    const object = await this.env.client.get(kind as never, name, { namespace });
    const { conditions = [] } =
      (object as KubeObject & { status?: { conditions?: readonly { type: string }[] } }).status ?? {};
    return conditions.find((each) => each.type === type) as
      | {
          readonly status: string;
          readonly reason: string;
          readonly message: string;
          readonly observedGeneration?: number;
        }
      | undefined;
  }

  async accepted(kind: { readonly kind: string }, name: string): Promise<string> {
    const found = await this.condition(kind, name, "Accepted");
    return found ? `${found.status} ${found.reason}` : "none";
  }

  deployment(name: string): Promise<Deployment | undefined> {
    return this.env.client.find(Deployment, name, { namespace: NS });
  }

  async config(name: string): Promise<Record<string, unknown>> {
    const { data = {} } = await this.env.client.get(Secret, name, { namespace: NS });
    return JSON.parse(Buffer.from(data["config.json"]!, "base64").toString("utf8")) as Record<string, unknown>;
  }

  async hash(name: string): Promise<string | undefined> {
    return (await this.deployment(name))?.spec?.template.metadata?.annotations?.["kagent.dev/config-hash"];
  }

  async toolNames(server: string): Promise<readonly string[]> {
    const tools = await this.store.tools({ name: `${NS}/${server}`, groupKind: "RemoteMCPServer.kagent.dev" });
    return tools.map(({ name }) => name);
  }

  get writes(): readonly string[] {
    return this.env.operator.writes;
  }

  /** The status that the Deployment controller would set for so many pods. */
  async setAvailable(name: string, replicas: number): Promise<void> {
    const { generation = 1 } = (await this.deployment(name))!.metadata;
    const status = {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    };
    const options = { namespace: NS, subresource: "status" } as const;
    await this.env.client.patch(Deployment, name, { type: "merge", body: { status } }, options);
    await this.env.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}
