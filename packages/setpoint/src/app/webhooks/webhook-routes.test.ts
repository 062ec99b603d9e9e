import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { TestEnvironment } from "../../testing/test-environment.js";
import { validating } from "../admission.js";
import { type AppOptions, app } from "../app.js";
import { Order, orders, Shop, webRequest } from "../app.testing.js";
import { versionRoute } from "../routes/route.js";
import { reviewedRoutes } from "../routes/route-access.js";
import { ask } from "./webhook-client.testing.js";
import { type AnsweredRequest, WebhookServer, type WebhookServerOptions } from "./webhook-server.js";

/** TLS checks certificates against real time, whatever the control plane's clock says. */
const real = { clock: systemClock, random: systemRandom };
const TOTAL = "/apis/shop.example.com/v1/namespaces/default/orders/a/total";

function serve(
  env: TestEnvironment,
  parts: Partial<AppOptions>,
  options: Partial<WebhookServerOptions> = {},
): Promise<WebhookServer> {
  const shops = app({ name: "shops", kinds: [Shop], ...parts });
  return WebhookServer.start({ apps: [shops], client: env.client, ...real, ...options });
}

const route = (path: string, handle: Parameters<typeof versionRoute>[2]["handle"]) =>
  versionRoute("shop.example.com/v1", "Cluster", { path, handle });

describe("routes of a webhook server", () => {
  it("require a token if a local caller may act for others: with a url, and behind a Service", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    const url = "https://127.0.0.1:9443";
    await using tunnelled = await WebhookServer.start({ apps: [orders], client, url, port: 0, ...real });
    expect((await ask(tunnelled, TOTAL)).status).toBe(401);
    await tunnelled[Symbol.asyncDispose]();
    const service = { namespace: "default", name: "hooks" };
    await using pod = await WebhookServer.start({ apps: [orders], client, service, port: 0, ...real });
    expect((await ask(pod, TOTAL, { servername: "hooks.default.svc" })).status).toBe(401);
  });

  it("are found below the url's path, whether or not a proxy strips it", async () => {
    await using env = await TestEnvironment.create();
    const url = "https://127.0.0.1:9443/hooks/";
    await using server = await serve(env, { routes: [route("stats", () => ({ json: 1 }))] }, { url, port: 0 });
    for (const prefix of ["", "/hooks"]) {
      expect((await ask(server, `${prefix}/apis/shop.example.com/v1/stats`)).status).toBe(401);
      expect((await ask(server, `${prefix}/shops/validate`)).status).toBe(405);
    }
    expect((await ask(server, "/hooks-of-others/shops/validate")).status).toBe(404);
  });

  it.each<[string, object]>([
    ["a header with a line break", { status: 200, headers: { "x-echo": "a\nb" }, body: "" }],
    ["an invalid status", { status: 99, body: "" }],
    ["a status that ends no request", { status: 102, body: "" }],
    ["a body that is neither text nor bytes", { status: 200, body: { a: 1 } }],
    ["nothing at all", undefined as never],
  ])("answer 500, and log it, if the handler returns %s", async (_, answer) => {
    await using env = await TestEnvironment.create();
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, error: (line) => void lines.push(line), with: () => log };
    const answered: AnsweredRequest[] = [];
    const routes = [route("echo", () => ({ answer }) as never)];
    await using server = await serve(env, { routes }, { log, onAnswered: (each) => answered.push(each) });
    const { status, body } = await ask(server, "/apis/shop.example.com/v1/echo");
    expect([status, JSON.parse(body)]).toMatchObject([500, { kind: "Status", reason: "InternalError" }]);
    expect(answered).toMatchObject([{ webhook: "routes", status: 500 }]);
    expect(lines).toEqual([expect.stringMatching(/^cannot send the response to GET .*echo:/)]);
  });

  it("take a body of 8 MB, and answer 413 to a larger one", async () => {
    await using env = await TestEnvironment.create();
    const routes = [
      versionRoute("shop.example.com/v1", "Cluster", {
        path: "size",
        method: "POST",
        handle: ({ body }) => ({ json: body.length }),
      }),
    ];
    await using server = await serve(env, { routes });
    const send = (size: number) =>
      ask(server, "/apis/shop.example.com/v1/size", { method: "POST", body: Buffer.alloc(size) });
    expect(await send(8 * 2 ** 20)).toEqual({ status: 200, body: String(8 * 2 ** 20) });
    expect(await send(8 * 2 ** 20 + 1)).toMatchObject({ status: 413 });
  });

  it("of two apps must differ, and so must the apps' names", async () => {
    await using env = await TestEnvironment.create();
    const named = (name: string) => app({ name, kinds: [Shop], routes: [route("stats", () => undefined)] });
    const start = (...names: readonly string[]) =>
      WebhookServer.start({ apps: names.map(named), client: env.client, ...real });
    await expect(start("one", "two")).rejects.toThrow(
      "app two: the app one has the route GET shop.example.com/v1 stats already",
    );
    await expect(start("one", "one")).rejects.toThrow("app one: an app of this name exists already");
    await using server = await start("one");
    await expect(server.add(named("two"))).rejects.toMatchObject({ code: "APP_INVALID" });
  });

  it("hide an API server's refusal of this process from the caller, and log it", async () => {
    const thrown: unknown[] = [];
    const forbidden = Object.assign(new Error("cannot create tokenreviews"), { status: 403, reason: "Forbidden" });
    const guard = reviewedRoutes({ create: () => Promise.reject(forbidden) } as never);
    const headers = { authorization: "Bearer x" };
    const request = { ...webRequest("GET", TOTAL), headers, onThrown: (error: unknown) => thrown.push(error) };
    const refused = await guard(orders.routes, request);
    expect([refused?.status, String(refused?.body)]).toEqual([500, expect.not.stringContaining("tokenreviews")]);
    expect(thrown).toEqual([forbidden]);
  });

  it("pass on an error with a status of its own, and log it with secrets masked", async () => {
    await using env = await TestEnvironment.create();
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, warn: (line) => void lines.push(line), with: () => log };
    const routes = [route("absent", () => env.client.get(Order, "hunter2", { namespace: "default" }) as never)];
    const onThrown = (error: unknown): void => {
      const told = error as { message: string; serverMessage: string };
      for (const field of ["message", "serverMessage"] as const) {
        Object.defineProperty(told, field, { value: told[field].replaceAll("hunter2", "***") });
      }
    };
    const validate = [validating(Order, { create: () => {} })];
    await using server = await serve(env, { routes, validate, kinds: [Shop, Order] }, { log, onThrown });
    const { status, body } = await ask(server, "/apis/shop.example.com/v1/absent");
    expect([status, body]).toEqual([404, expect.stringContaining("***")]);
    expect(lines).toEqual([expect.stringContaining("GET /apis/shop.example.com/v1/absent failed: ")]);
  });
});
