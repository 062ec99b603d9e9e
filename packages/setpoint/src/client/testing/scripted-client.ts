import { seededRandom } from "../../clock/random.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { type ClientOptions, createClient } from "../api-client.js";
import type { Client } from "../client.js";
import { reply } from "../transport/transport.contract.js";
import type { Transport, TransportRequest, TransportResponse } from "../transport/transport.js";

export const JSON_TYPE = { "content-type": "application/json" };

/** What `getObject` and `createObject` return on success. */
export const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "n", resourceVersion: "1" },
};

export function answer(body: unknown, status = 200, headers: object = {}): TransportResponse {
  return reply(JSON.stringify(body), { ...JSON_TYPE, ...headers }, status);
}

export function status(code: number, reason: string, more: object = {}): object {
  return { kind: "Status", status: "Failure", message: `the message of ${reason}`, reason, code, ...more };
}

export function failing(code: number, reason: string, headers: object = {}, more: object = {}): TransportResponse {
  return answer(status(code, reason, more), code, headers);
}

export type Answer =
  | TransportResponse
  | Error
  | ((request: TransportRequest) => TransportResponse | Promise<TransportResponse>);

export interface ScriptedClient {
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly requests: TransportRequest[];
}

/** A client on a virtual clock whose n-th request gets the n-th answer; the last one repeats. */
export function scriptedClient(answers: readonly Answer[], options: Partial<ClientOptions> = {}): ScriptedClient {
  const clock = new VirtualClock();
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    async request(request) {
      const next = answers[Math.min(requests.length, answers.length - 1)]!;
      requests.push(request);
      if (next instanceof Error) throw next;
      return typeof next === "function" ? next(request) : next;
    },
    async [Symbol.asyncDispose]() {},
  };
  const client = createClient({ transport, server: "https://test", clock, random: seededRandom(1), ...options });
  return { client, clock, requests };
}

export function getObject(client: Client): Promise<unknown> {
  return client.get(ConfigMap, "a", { namespace: "n" });
}

export function createObject(client: Client): Promise<unknown> {
  return client.create(ConfigMap, { metadata: { name: "a", namespace: "n" } });
}

/** `"resolved"`, or the rejection of the promise. */
export async function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "resolved",
    (error: unknown) => error,
  );
}
