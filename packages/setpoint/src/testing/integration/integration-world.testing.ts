import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import type { App } from "../../app/app.js";
import { isNotFound } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { type ConnectOptions, connect } from "../../client/connect.js";
import { systemClock } from "../../clock/system-clock.js";
import type { Loop } from "../../controller/loop.js";
import { Website, websiteDefinition } from "../../controller/world.testing.js";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Deployment } from "../../kinds/builtin/apps/v1.js";
import { ConfigMap, Namespace, ServiceAccount } from "../../kinds/builtin/v1.js";
import type { Kind } from "../../kinds/kind.js";
import { Manager, type ManagerOptions } from "../../manager/manager.js";

/** An API server to run against, in real time. */
export interface Server extends AsyncDisposable {
  /** The path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
}

const READS: readonly string[] = ["get", "list", "watch"];
const namespace = "team";
export const here = { namespace };

/** An API server with two namespaces and a kind, and the processes that a test starts on it. */
export class IntegrationWorld implements AsyncDisposable {
  /** An administrator's client. */
  readonly client: Client;
  /** The writes of managers in the running test: `apply Deployment`, `patch Website status`. Without events. */
  readonly writes: string[] = [];
  readonly #server: Server;
  readonly #folder: string;
  #started: { readonly manager: Manager; readonly client: Client }[] = [];

  private constructor(server: Server, client: Client, folder: string) {
    this.#server = server;
    this.client = client;
    this.#folder = folder;
  }

  static async create(server: Server): Promise<IntegrationWorld> {
    const client = await connect({ kubeconfig: server.kubeconfig });
    for (const name of [namespace, "other"]) await client.create(Namespace, { metadata: { name } });
    await client.create(CustomResourceDefinition, websiteDefinition());
    await eventually(async () => expect((await client.list(Website)).items).toEqual([]));
    return new IntegrationWorld(server, client, await mkdtemp(join(tmpdir(), "setpoint-integration-")));
  }

  /** Starts a manager with its own connection, like a process. */
  async run(loops: readonly (Loop | App)[], options: Partial<ManagerOptions> = {}): Promise<Manager> {
    const client = options.client ?? (await this.connect());
    const manager = new Manager({ grace: 1_000, ...options, client });
    this.#started.push({ manager, client });
    for (const loop of loops) void manager.add(loop);
    void manager.start().catch(() => {});
    return manager;
  }

  connect(options: ConnectOptions = {}): Promise<Client> {
    const observer: ConnectOptions["observer"] = ({ verb, kind, subresource }) => {
      const isWrite = !READS.includes(verb) && kind !== "Event" && !kind.endsWith("Review");
      if (isWrite) this.writes.push(`${verb} ${kind}${subresource && ` ${subresource}`}`);
    };
    return connect({ kubeconfig: this.#server.kubeconfig, observer, ...options });
  }

  async tokenOf(account: string): Promise<string> {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { status } = await this.client.createSubresource<{ status: { token: string } }>(ServiceAccount, account, {
      subresource: "token",
      body: review,
      ...here,
    });
    return status.token;
  }

  /** A client with the token of a ServiceAccount. */
  async connectAs(account: string): Promise<Client> {
    const token = await this.tokenOf(account);
    const config = parse(await readFile(this.#server.kubeconfig, "utf8")) as { users: { name: string }[] };
    const users = config.users.map(({ name }) => ({ name, user: { token } }));
    const file = join(this.#folder, account);
    await writeFile(file, JSON.stringify({ ...config, users }), { mode: 0o600 });
    return this.connect({ kubeconfig: file });
  }

  createSite(name: string, image = "nginx", annotations: Record<string, string> = {}): Promise<Website> {
    return this.client.create(Website, { metadata: { namespace, name, annotations }, spec: { image } });
  }

  patchSite(name: string, body: object): Promise<Website> {
    return this.client.patch(Website, name, { type: "merge", body: body as never }, here);
  }

  site(name: string): Promise<Website | undefined> {
    return this.client.find(Website, name, here);
  }

  map(name: string, where = namespace): Promise<ConfigMap | undefined> {
    return this.client.find(ConfigMap, name, { namespace: where });
  }

  /** Stops what a test has started, and deletes what it has left. */
  async reset(): Promise<void> {
    for (const { manager } of this.#started) await manager.stop();
    for (const { client } of this.#started) await client[Symbol.asyncDispose]();
    this.#started = [];
    await this.#clear(Website);
    await this.#clear(Deployment);
    await this.#clear(ConfigMap);
    await this.#clear(ConfigMap, "other");
    this.writes.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #clear(kind: Kind, where = namespace): Promise<void> {
    for (const { metadata } of (await this.client.list(kind, { namespace: where })).items) {
      if (metadata.name === "kube-root-ca.crt") continue;
      const body = { metadata: { finalizers: null } };
      try {
        if (metadata.finalizers) {
          await this.client.patch(kind, metadata.name, { type: "merge", body }, { namespace: where });
        }
        await this.client.delete(kind, metadata.name, { namespace: where });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }
}

/** Retries until it holds. */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  for (let tries = 300; ; tries--) {
    try {
      return await check();
    } catch (error) {
      if (tries === 0) throw error;
      await systemClock.sleep(50);
    }
  }
}

/** Long enough for any consequence to have started. */
export const settled = (): Promise<void> => systemClock.sleep(700);
