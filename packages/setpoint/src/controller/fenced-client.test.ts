import { describe, expect, it } from "vitest";
import { createClient } from "../client/api-client.js";
import type { Client } from "../client/client.js";
import type { TransportRequest } from "../client/transport.js";
import { Pod } from "../kinds/builtin/v1.js";
import { fencedClient } from "./fenced-client.js";
import { failure } from "./world.testing.js";

const here = { namespace: "team" };
const pod: Pod = {
  ...{ apiVersion: "v1", kind: "Pod", spec: { containers: [] } },
  metadata: { ...here, name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "" },
};
const first = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items) return;
};

const CALLS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  get: (client) => client.get(Pod, "a", here),
  find: (client) => client.find(Pod, "a", here),
  list: (client) => client.list(Pod),
  pages: (client) => first(client.pages(Pod)),
  create: (client) => client.create(Pod, pod),
  update: (client) => client.update(Pod, pod, { subresource: "status" }),
  patch: (client) => client.patch(Pod, "a", { type: "merge", body: {} }, here),
  apply: (client) => client.apply(Pod, { metadata: { ...here, name: "a" } }),
  delete: (client) => client.delete(Pod, "a", here),
  deleteCollection: (client) => client.deleteCollection(Pod, here),
  watch: (client) => first(client.watch(Pod)),
  getSubresource: (client) => client.getSubresource(Pod, "a", "status", here),
  createSubresource: (client) => client.createSubresource(Pod, "a", "eviction", {}, here),
  updateSubresource: (client) => client.updateSubresource(Pod, "a", "status", {}, here),
  logs: (client) => first(client.logs("a", here)),
  discover: (client) => client.discover(),
  raw: (client) => client.raw({ method: "PUT", path: "/api/v1/pods" }),
};

describe.each(Object.entries(CALLS))("%s by a client that a lease fences", (_, call) => {
  it("is sent as by the client itself, and ends with the lease; then it is refused", async () => {
    const sent: TransportRequest[] = [];
    const transport = {
      request: async (request: TransportRequest) => {
        sent.push(request);
        return failure(403, "Forbidden");
      },
      [Symbol.asyncDispose]: async () => {},
    };
    const client = createClient({ transport, server: "scripted", headTimeoutMs: 0 });
    const lost = new AbortController();
    const fenced = fencedClient(client, { lost: lost.signal, check: () => lost.signal.throwIfAborted() });
    await call(client).catch(() => {});
    await call(fenced).catch(() => {});
    const [plain, own] = sent.map(({ method, path, body }) => ({ method, path, body: String(body) }));
    expect([own, sent.length]).toEqual([plain, 2]);
    expect(sent[1]!.signal).toBe(lost.signal);
    lost.abort(new Error("the lease has ended"));
    await expect(call(fenced)).rejects.toThrow("the lease has ended");
    expect(sent).toHaveLength(2);
  });
});
