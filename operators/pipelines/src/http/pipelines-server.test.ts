import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PipelinesError } from "../errors.js";
import { EventLog } from "./event-log.js";
import { type PipelinesApi, PipelinesServer } from "./pipelines-server.js";

const TOKEN = "secret";
let server: PipelinesServer;
let events: EventLog;

beforeEach(async () => {
  events = new EventLog("e");
  const api: PipelinesApi = {
    events,
    resources: () => [{ name: "orders" }],
    resource: (name) => {
      throw new PipelinesError("PIPELINES_RESOURCE_UNKNOWN", `no file declares ${name}`);
    },
    project: () => ({ problems: [] }),
    explain: (name) => ({ reason: `because of ${name}` }),
    plan: async () => [],
    refresh: async (given) => given,
    query: async () => {
      throw new Error("a password");
    },
  };
  server = await PipelinesServer.listen({ api, token: TOKEN, port: 0 });
});
afterEach(() => server[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Unlike fetch, can send any Host header. */
function ask(path: string, headers: Record<string, string> = {}, { method = "GET", body = "" } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${TOKEN}`, ...headers };
    const sent = request(`${server.url}${path}`, { method, headers: all }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode!, body: text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Reads so many events of the stream. */
async function read(count: number, headers: Record<string, string> = {}): Promise<readonly string[]> {
  const stop = new AbortController();
  const response = await fetch(`${server.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    signal: stop.signal,
  });
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split("\n\n").length > count) break;
  }
  stop.abort();
  return text.trim().split("\n\n");
}

describe("the server of a project", () => {
  it("answers holders of the token, on localhost only", async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await ask("/api/v1/resources")).toMatchObject({ status: 200, body: '[{"name":"orders"}]\n' });
    expect(await ask("/api/v1/explain/Model/orders")).toMatchObject({ body: '{"reason":"because of Model/orders"}\n' });
    expect((await ask("/api/v1/resources", { authorization: "Bearer other" })).status).toBe(401);
    expect((await ask("/api/v1/resources", { authorization: "" })).status).toBe(401);
    expect((await ask("/api/v1/resources", { host: "evil.example" })).status).toBe(403);
    expect((await ask("/api/v1/resources", { origin: "https://evil.example" })).status).toBe(403);
  });

  it("reports errors, and hides unexpected ones", async () => {
    expect(await ask("/api/v1/resources/nothing")).toMatchObject({ status: 404 });
    expect(await ask("/api/v1/refresh", {}, { method: "POST", body: "{" })).toMatchObject({
      status: 400,
      body: '{"error":{"code":"PIPELINES_REQUEST_INVALID","message":"the body is not JSON"}}\n',
    });
    expect(await ask("/api/v1/query", {}, { method: "POST", body: "{}" })).toEqual({
      status: 500,
      body: '{"error":{"message":"internal error"}}\n',
    });
    expect((await ask("/api/v1/unknown")).status).toBe(404);
    expect((await ask("/api/v1/refresh")).status).toBe(404);
  });

  it("streams everything first, then each change; a reconnected client continues where it was", async () => {
    const snapshot = await read(1);
    expect(snapshot).toEqual([
      'id: e-0\nevent: snapshot\ndata: {"resources":[{"name":"orders"}],"project":{"problems":[]}}',
    ]);
    events.add("resource", { name: "orders", status: "running" });
    events.add("resource", { name: "orders", status: "idle" });
    expect(await read(2, { "last-event-id": "e-0" })).toEqual([
      'id: e-1\nevent: resource\ndata: {"name":"orders","status":"running"}',
      'id: e-2\nevent: resource\ndata: {"name":"orders","status":"idle"}',
    ]);
    expect((await read(1, { "last-event-id": "other-1" }))[0]).toContain("event: snapshot");
  });

  it("uses another port if its own is taken and that is allowed", async () => {
    const port = Number(new URL(server.url).port);
    const options = { api: { events } as unknown as PipelinesApi, token: TOKEN, port };
    await expect(PipelinesServer.listen(options)).rejects.toMatchObject({ code: "PIPELINES_ADDRESS_UNAVAILABLE" });
    await using other = await PipelinesServer.listen({ ...options, orAnyPort: true });
    expect(other.url).not.toBe(server.url);
  });
});
