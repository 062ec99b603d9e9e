import { Buffer } from "node:buffer";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { ConfigMap, Namespace, Pod } from "../kinds/builtin/v1.js";
import type { NewObject } from "../kinds/object.js";
import type { Client } from "./client.js";
import { answer, createObject, failing, object, scriptedClient } from "./testing/scripted-client.js";
import { reply } from "./transport/transport.contract.js";
import { transportError } from "./transport/transport-error.js";

async function first(values: AsyncIterable<unknown>): Promise<unknown> {
  for await (const value of values) return value;
  return undefined;
}

/** A server that does not answer: rejects like a transport when the signal is aborted. */
function untilAborted(signal: AbortSignal, asked: AbortSignal[]): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(transportError("ABORTED", "the request was aborted", signal.reason));
    if (signal.aborted) return abort();
    asked.push(signal);
    signal.addEventListener("abort", abort, { once: true });
  });
}

describe("requests", () => {
  it("with a missing or unsafe name or namespace are refused before they are sent", async () => {
    const { client, requests } = scriptedClient([answer(object)]);
    for (const name of ["", ".", "..", "a/b", "a%2fb"]) {
      await expect(client.get(ConfigMap, name, { namespace: "n" })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    }
    await expect(client.get(ConfigMap, "a")).rejects.toThrow(
      'v1/ConfigMap "a": a namespaced object needs its namespace',
    );
    await expect(client.create(ConfigMap, { metadata: { name: "a" } })).rejects.toThrow(
      "metadata.namespace is missing",
    );
    await expect(client.apply(Namespace, { metadata: {} } as never)).rejects.toThrow("metadata.name is missing");
    expect(requests).toEqual([]);
  });

  it("of pages leave the resourceVersion out beside a continue token", async () => {
    const { client, requests } = scriptedClient([
      answer({ metadata: { resourceVersion: "5", continue: "token" }, items: [] }),
      answer({ metadata: { resourceVersion: "5" }, items: [] }),
    ]);
    for await (const _ of client.pages(ConfigMap, {
      resourceVersion: "5",
      resourceVersionMatch: "Exact",
      labelSelector: "a in (b,c)",
    }));
    expect(requests.map((request) => request.path)).toEqual([
      "/api/v1/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=500&resourceVersion=5&resourceVersionMatch=Exact",
      "/api/v1/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=500&continue=token",
    ]);
  });

  it("of pages reject with API_EXPIRED, and the token to continue with, if the snapshot has expired", async () => {
    const { client } = scriptedClient([
      answer({ metadata: { resourceVersion: "5", continue: "token" }, items: [] }),
      failing(410, "Expired", {}, { metadata: { continue: "go-on" } }),
    ]);
    const paging = (async () => {
      for await (const _ of client.pages(ConfigMap));
    })();
    await expect(paging).rejects.toMatchObject({ code: "API_EXPIRED", continueToken: "go-on" });
  });

  it.each<[string, (client: Client, signal: AbortSignal) => Promise<unknown>]>([
    ["get", (client, signal) => client.get(ConfigMap, "a", { namespace: "n", signal })],
    ["find", (client, signal) => client.find(ConfigMap, "a", { namespace: "n", signal })],
    ["list", (client, signal) => client.list(ConfigMap, { signal })],
    ["pages", (client, signal) => first(client.pages(ConfigMap, { signal }))],
    ["create", (client, signal) => client.create(ConfigMap, object as ConfigMap, { signal })],
    ["update", (client, signal) => client.update(ConfigMap, object as ConfigMap, { signal })],
    [
      "patch",
      (client, signal) => client.patch(ConfigMap, "a", { type: "merge", body: {} }, { namespace: "n", signal }),
    ],
    ["apply", (client, signal) => client.apply(ConfigMap, { metadata: object.metadata }, { signal })],
    ["delete", (client, signal) => client.delete(ConfigMap, "a", { namespace: "n", signal })],
    ["deleteCollection", (client, signal) => client.deleteCollection(ConfigMap, { namespace: "n", signal })],
    ["watch", (client, signal) => first(client.watch(ConfigMap, { signal }))],
    [
      "getSubresource",
      (client, signal) => client.getSubresource(Pod, "a", { subresource: "status", namespace: "n", signal }),
    ],
    [
      "createSubresource",
      (client, signal) =>
        client.createSubresource(Pod, "a", { subresource: "eviction", body: {}, namespace: "n", signal }),
    ],
    [
      "updateSubresource",
      (client, signal) =>
        client.updateSubresource(Pod, "a", { subresource: "status", body: {}, namespace: "n", signal }),
    ],
    ["logs", (client, signal) => first(client.logs("a", { namespace: "n", signal }))],
    ["discover", (client, signal) => client.discover({ signal })],
    ["raw", (client, signal) => client.raw({ method: "GET", path: "/version", signal })],
  ])("of %s are aborted by their signal, before and after they are sent", async (_, call) => {
    const asked: AbortSignal[] = [];
    const { client, requests } = scriptedClient([({ signal }) => untilAborted(signal!, asked)]);
    await expect(call(client, AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
    expect(requests.filter(({ signal }) => !signal?.aborted)).toEqual([]);
    const leaving = new AbortController();
    const waiting = call(client, leaving.signal);
    waiting.catch(() => {});
    while (asked.length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("leave no listener on a signal that outlives them", async () => {
    const { client } = scriptedClient([() => answer(object)]);
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count++) await client.get(ConfigMap, "a", { namespace: "n", signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("of an apply send fieldValidation=Ignore unless told otherwise", async () => {
    const { client, requests } = scriptedClient([() => answer(object)]);
    const applied = { metadata: { name: "a", namespace: "n" } };
    await client.apply(ConfigMap, applied);
    await client.apply(ConfigMap, applied, { fieldValidation: "Strict" });
    expect(requests.map(({ path }) => new URLSearchParams(path.split("?")[1]).get("fieldValidation"))).toEqual([
      "Ignore",
      "Strict",
    ]);
  });

  it("name the field manager in every write", async () => {
    const { client, requests } = scriptedClient([() => answer(object)], { fieldManager: "me" });
    await createObject(client);
    await client.update(ConfigMap, object as ConfigMap, { fieldManager: "other", dryRun: true });
    await client.patch(ConfigMap, "a", { type: "merge", body: {} }, { namespace: "n" });
    expect(requests.map((request) => request.path.split("?")[1])).toEqual([
      "fieldManager=me",
      "fieldManager=other&dryRun=All",
      "fieldManager=me",
    ]);
  });

  it("carry the kind even if the object does not", async () => {
    const { client, requests } = scriptedClient([() => answer(object)]);
    await client.create(ConfigMap, { metadata: { name: "a", namespace: "n" }, data: {} } as NewObject<ConfigMap>);
    expect(JSON.parse(Buffer.from(requests[0]!.body!).toString())).toMatchObject({
      apiVersion: "v1",
      kind: "ConfigMap",
    });
  });
});

describe("logs", () => {
  it("are decoded as text wherever a chunk is cut, and follow without a deadline", async () => {
    const bytes = Buffer.from("grüße\n");
    const body = (async function* () {
      for (const byte of bytes) yield Buffer.from([byte]);
    })();
    const { client, requests } = scriptedClient([{ ...reply(""), body }]);
    let text = "";
    for await (const chunk of client.logs("p", { namespace: "n", container: "c", follow: true, tailLines: 5 }))
      text += chunk;
    expect(text).toBe("grüße\n");
    expect(requests[0]!.path).toBe("/api/v1/namespaces/n/pods/p/log?container=c&follow=true&tailLines=5");
  });
});
