import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const SECRETS = "/api/v1/namespaces/default/secrets";
const MERGE = "application/merge-patch+json";

let plane: TestPlane;
let version: string;
beforeEach(async () => {
  plane = await TestPlane.start();
  for (const [name, odd] of [
    ["s1", "1"],
    ["s2", "0"],
  ] as const) {
    const { body } = await plane.request("POST", SECRETS, { body: { metadata: { name, labels: { odd } } } });
    version = body.metadata.resourceVersion;
  }
});
afterEach(() => plane[Symbol.asyncDispose]());

interface Event {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind.
  readonly object: any;
}

/** The events of a watch, from its start until `change` is done and `seconds` have passed. */
async function watch(
  query: string,
  change: () => Promise<unknown> = async () => {},
  seconds = 1,
  path = SECRETS,
): Promise<readonly Event[]> {
  const response = await plane.open("GET", `${path}?watch=1&timeoutSeconds=${seconds}&${query}`);
  expect(response.status).toBe(200);
  await change();
  await plane.clock.advance(seconds * 1000);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Event);
}

const seen = (events: readonly Event[]) =>
  events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`.trim());
const label = (name: string, odd: string) =>
  plane.request("PATCH", `${SECRETS}/${name}`, { contentType: MERGE, body: { metadata: { labels: { odd } } } });

describe("watches", () => {
  it("start with the state, then continue", async () => {
    const events = await watch("", () => plane.request("DELETE", `${SECRETS}/s1`));
    expect(seen(events)).toEqual(["ADDED s1", "ADDED s2", "DELETED s1"]);
    expect(events[0]!.object).toMatchObject({ kind: "Secret", apiVersion: "v1" });
    expect(Number(events[2]!.object.metadata.resourceVersion)).toBeGreaterThan(Number(version));
  });

  it("start strictly after a resourceVersion", async () => {
    const events = await watch(`resourceVersion=${version}`, () => label("s1", "2"));
    expect(seen(events)).toEqual(["MODIFIED s1"]);
  });

  it("report objects that start and stop matching a selector", async () => {
    const events = await watch(`resourceVersion=${version}&labelSelector=odd%3D1`, async () => {
      await label("s1", "0");
      await label("s2", "1");
    });
    expect(seen(events)).toEqual(["DELETED s1", "ADDED s2"]);
    expect(events[0]!.object.metadata.labels).toEqual({ odd: "1" });
    expect(Number(events[0]!.object.metadata.resourceVersion)).toBeGreaterThan(Number(version));
  });

  it("end the initial events with an annotated bookmark", async () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const events = await watch(query);
    expect(seen(events)).toEqual(["ADDED s1", "ADDED s2", "BOOKMARK"]);
    expect(events[2]!.object).toEqual({
      kind: "Secret",
      apiVersion: "v1",
      metadata: { resourceVersion: version, annotations: { "k8s.io/initial-events-end": "true" } },
    });
  });

  it("send bookmarks with the fields of an empty Go struct", async () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const [bookmark] = await watch(query, undefined, 1, "/apis/apps/v1/deployments");
    expect(bookmark!.object).toMatchObject({
      spec: { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    });
  });

  it("send bookmarks each minute and once more before the end", async () => {
    const events = await watch(`resourceVersion=${version}&allowWatchBookmarks=true`, undefined, 130);
    expect(seen(events)).toEqual(["BOOKMARK", "BOOKMARK", "BOOKMARK"]);
  });

  it("send an ERROR event if their start is compacted", async () => {
    await label("s1", "0");
    plane.storage.compact(plane.storage.revision);
    const events = await watch(`resourceVersion=${version}`);
    expect(events).toMatchObject([{ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } }]);
  });

  it("open and wait for a future resourceVersion", async () => {
    expect(await watch("resourceVersion=999999")).toEqual([]);
  });

  it("are tables on request, with column definitions once", async () => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const response = await plane.request("GET", `${SECRETS}?watch=1&timeoutSeconds=0`, {
      headers,
      signal: AbortSignal.abort(),
    });
    expect(response.body).toHaveLength(2);
    expect(response.body[0].object.columnDefinitions).toHaveLength(4);
    expect(response.body[1].object.columnDefinitions).toBeNull();
  });

  it("end when the client leaves", async () => {
    const leaving = new AbortController();
    const response = await plane.open("GET", `${SECRETS}?watch=1&resourceVersion=${version}`, {
      signal: leaving.signal,
    });
    leaving.abort();
    const body = response.body as AsyncIterable<Uint8Array>;
    expect(await body[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  });
});
