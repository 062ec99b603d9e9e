import type { CallOptions, Client } from "../client/client.js";
import type { Fence } from "./fence.js";

type Call = Exclude<keyof Client, "server" | "namespace" | symbol>;

/** Where each call takes its options: a table is less to load than as many functions. */
const OPTIONS_AT = {
  get: 2,
  find: 2,
  list: 1,
  pages: 1,
  create: 2,
  update: 2,
  patch: 3,
  apply: 2,
  delete: 2,
  deleteCollection: 1,
  watch: 1,
  getSubresource: 3,
  createSubresource: 4,
  updateSubresource: 4,
  logs: 1,
  discover: 0,
  raw: 0,
} as const satisfies Record<Call, number>;

/**
 * A client that sends nothing once the lease has ended, though nobody may have noticed yet: it asks right before each
 * request goes out, also one that is tried again or has waited for its connection. What is in flight then is ended by the
 * signal that its caller has given, which must end with the lease; by the lease where none was given.
 */
export function fencedClient(client: Client, fence: Fence): Client {
  const { server, namespace } = client;
  const calls = client as unknown as Record<string, (...given: unknown[]) => unknown>;
  const beforeSend = (): void => fence.check();
  // The client belongs to whoever gave it.
  const fenced: Record<string, unknown> = { server, namespace, [Symbol.asyncDispose]: async () => {} };
  for (const [call, at] of Object.entries(OPTIONS_AT)) {
    fenced[call] = (...given: unknown[]): unknown => {
      const options = given[at] as CallOptions | undefined;
      given[at] = { ...options, signal: options?.signal ?? fence.lost, beforeSend };
      return calls[call]!(...given);
    };
  }
  return fenced as unknown as Client;
}
