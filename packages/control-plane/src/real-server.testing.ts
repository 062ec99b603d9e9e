import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { Json, JsonObject } from "./api/json.js";

export interface RealAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

export type NamedObject = JsonObject & { readonly metadata: { readonly name: string } };

/** The seed of this run: new each time unless `SETPOINT_SEED` repeats one. */
export const SEED = Number(process.env.SETPOINT_SEED);

/** A real kube-apiserver to compare with: a new one, or the one that `KUBECONFIG_REAL` names. */
export class RealServer implements AsyncDisposable {
  readonly #server: URL;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly #stop: () => Promise<void>;
  /** Objects of one test file, to be deleted after it. */
  readonly #made: string[] = [];

  private constructor(kubeconfig: string, stop: () => Promise<void>) {
    const config = JSON.parse(readFileSync(kubeconfig, "utf8"));
    this.#server = new URL(config.clusters[0].cluster.server);
    this.#token = config.users[0].user.token;
    this.#stop = stop;
  }

  static async start(): Promise<RealServer> {
    const given = process.env.KUBECONFIG_REAL;
    if (given !== undefined) return new RealServer(given, async () => {});
    const { startKubernetes } = await import("../../../tools/kubernetes/start.mjs");
    const cluster = await startKubernetes();
    return new RealServer(cluster.kubeconfig as string, cluster.stop as () => Promise<void>);
  }

  /** Creates an object that is deleted after the tests. */
  async make(collection: string, object: NamedObject): Promise<void> {
    const { status, body } = await this.call("POST", collection, object);
    if (status !== 201) throw new Error(`${status} for ${collection}: ${JSON.stringify(body)}`);
    this.#made.push(`${collection}/${object.metadata.name}`);
  }

  call(method: string, path: string, body?: Json, contentType = "application/json"): Promise<RealAnswer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${this.#token}`,
        "content-type": contentType,
        accept: "application/json",
        "content-length": Buffer.byteLength(text),
      };
      const { hostname: host, port } = this.#server;
      const outgoing = request({ agent: this.#agent, method, host, port, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const answer = Buffer.concat(chunks).toString();
          const parsed = answer.startsWith("{") ? JSON.parse(answer) : { message: answer };
          resolve({ status: response.statusCode!, body: parsed });
        });
      });
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of this.#made) await this.call("DELETE", path);
    this.#agent.destroy();
    await this.#stop();
  }
}
