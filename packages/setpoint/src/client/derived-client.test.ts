import { describe, expect, it } from "vitest";
import { failure } from "../controller/world.testing.js";
import { Pod } from "../kinds/builtin/v1.js";
import { createClient } from "./api-client.js";
import type { Client } from "./client.js";
import type { TransportRequest } from "./transport/transport.js";

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
  getSubresource: (client) => client.getSubresource(Pod, "a", { subresource: "status", ...here }),
  createSubresource: (client) => client.createSubresource(Pod, "a", { subresource: "eviction", body: {}, ...here }),
  updateSubresource: (client) => client.updateSubresource(Pod, "a", { subresource: "status", body: {}, ...here }),
  logs: (client) => first(client.logs("a", here)),
  discover: (client) => client.discover(),
  raw: (client) => client.raw({ method: "PUT", path: "/api/v1/pods" }),
};

describe.each(Object.entries(CALLS))("%s by a client with a fence", (_, call) => {
  it("is sent like one of the base client, aborted with the lease, and refused from then on", async () => {
    const sent: TransportRequest[] = [];
    const transport = {
      request: async (request: TransportRequest) => {
        sent.push(request);
        return failure(403, "Forbidden");
      },
      [Symbol.asyncDispose]: async () => {},
    };
    const client = createClient({ transport, server: "scripted", headTimeout: 0 });
    const lost = new AbortController();
    const fenced = client.with({ fence: { lost: lost.signal, check: () => lost.signal.throwIfAborted() } });
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

const WRITES = ["create", "update", "patch", "apply", "createSubresource", "updateSubresource"];
const DELETES = ["delete", "deleteCollection"];

/** A client whose requests are recorded, and forbidden by the server. */
function recorded(): { readonly client: Client; readonly sent: TransportRequest[]; readonly disposals: () => number } {
  const sent: TransportRequest[] = [];
  let disposals = 0;
  const transport = {
    request: async (request: TransportRequest) => {
      sent.push(request);
      return failure(403, "Forbidden");
    },
    [Symbol.asyncDispose]: async () => {
      disposals++;
    },
  };
  return { client: createClient({ transport, server: "scripted", headTimeout: 0 }), sent, disposals: () => disposals };
}

describe("a client with dryRun", () => {
  it.each([...WRITES, ...DELETES])("sends %s as a dry run, also through a client derived from it", async (name) => {
    const { client, sent } = recorded();
    const trial = client.with({ dryRun: true }).with({ fieldManager: "web" });
    await CALLS[name]!(trial).catch(() => {});
    const [{ path, body }] = sent as [TransportRequest];
    if (DELETES.includes(name)) expect(JSON.parse(String(body))).toMatchObject({ dryRun: ["All"] });
    else expect(path).toContain("dryRun=All");
  });

  it("refuses raw writes, and sends reads unchanged", async () => {
    const { client, sent } = recorded();
    const trial = client.with({ dryRun: true });
    await expect(CALLS.raw!(trial)).rejects.toMatchObject({ code: "EFFECT_NOT_RUN" });
    await trial.raw({ method: "GET", path: "/version" });
    await CALLS.list!(trial).catch(() => {});
    expect(sent.map(({ path }) => path)).toEqual(["/version", "/api/v1/pods"]);
  });
});

describe("a derived client", () => {
  it("checks the fence of every client that it is derived from", async () => {
    const { client } = recorded();
    const asked: string[] = [];
    const fence = (name: string) => ({ check: () => void asked.push(name) });
    await CALLS.get!(client.with({ fence: fence("outer") }).with({ fence: fence("inner") })).catch(() => {});
    expect(asked).toEqual(["outer", "inner"]);
  });

  it("leaves the transport open when it is disposed", async () => {
    const { client, disposals } = recorded();
    await client.with({ fieldManager: "web" })[Symbol.asyncDispose]();
    expect(disposals()).toBe(0);
    await client[Symbol.asyncDispose]();
    expect(disposals()).toBe(1);
  });
});
