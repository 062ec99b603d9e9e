import { request } from "node:https";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import type { Client } from "../../client/client.js";
import { systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { Role, RoleBinding } from "../../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { Namespace, ServiceAccount } from "../../kinds/builtin/v1.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { TestEnvironment } from "../../testing/test-environment.js";
import { mutating, validating } from "../admission.js";
import { app } from "../app.js";
import { OldOrder, Order, orders, Shop, webRequest } from "../app.testing.js";
import { RefusedError } from "../refused-error.js";
import { versionRoute } from "../routes/route.js";
import { reviewedRoutes } from "../routes/route-access.js";
import { webhookAddress } from "./webhook-address.js";
import { type AnsweredRequest, WebhookServer } from "./webhook-server.js";

const metadata = { namespace: "default", name: "a" };
const here = { namespace: "default" };
/** TLS checks certificates against real time, whatever the control plane's clock says. */
const real = { clock: systemClock, random: systemRandom };

/** A stand-in for a client of any server, and for clients derived from it. */
function derivable(parts: Partial<Client>): Client {
  const client: Client = { ...parts, with: () => client } as Client;
  return client;
}

describe("WebhookServer", () => {
  it("admits, mutates and converts for the embedded control plane on a laptop, and leaves no webhook behind", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    const asked = new Map<string, number>();
    const onAnswered = ({ webhook, status }: AnsweredRequest): void => {
      asked.set(`${webhook} ${status}`, (asked.get(`${webhook} ${status}`) ?? 0) + 1);
    };
    const server = await WebhookServer.start({ apps: [orders], client, ...real, onAnswered });
    const made = await client.create(Order, { metadata, spec: { item: "tea", count: 6 } });
    expect(made.metadata.annotations).toEqual({ by: expect.any(String) });
    const many = client.create(Order, { metadata: { ...metadata, name: "b" }, spec: { item: "tea", count: 11 } });
    await expect(many).rejects.toMatchObject({ status: 409, reason: "Conflict" });
    expect((await client.get(OldOrder, "a", here)).spec).toEqual({ item: "tea", pieces: 6 });
    await client.create(OldOrder, { metadata: { ...metadata, name: "c" }, spec: { item: "tea", pieces: 2 } });
    expect((await client.get(Order, "c", here)).spec.count).toBe(2);

    const url = `https://127.0.0.1:${server.port}/apis/shop.example.com/v1/namespaces/default/orders/a/total`;
    expect(await get(url, server.caBundle)).toEqual({ status: 200, body: '{"total":"a"}' });
    expect((await get(`https://127.0.0.1:${server.port}/apis/x/v1/y`, server.caBundle)).status).toBe(404);
    expect((await get(`https://127.0.0.1:${server.port}/orders/validate`, server.caBundle)).status).toBe(405);

    expect((await get(`https://127.0.0.1:${server.port}/made-up?x=1`, server.caBundle)).status).toBe(404);
    expect([...asked.keys()].sort()).toEqual([
      "/orders/convert 200",
      "/orders/mutate 200",
      "/orders/validate 200",
      "/orders/validate 405",
      "routes 200",
      "routes 404",
      "unknown 404",
    ]);
    await server[Symbol.asyncDispose]();
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    expect((await client.list(MutatingWebhookConfiguration)).items).toEqual([]);
    await client.create(Order, { metadata: { ...metadata, name: "d" }, spec: { item: "tea", count: 11 } });
  });

  it("answers routes of every method over HTTPS", async () => {
    await using env = await TestEnvironment.create();
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"] as const;
    const routes = [...methods, "HEAD" as const].map((method) =>
      versionRoute("shop.example.com/v1", "Cluster", {
        path: "echo",
        method,
        handle: (asked) => ({ json: asked.method }),
      }),
    );
    const shops = app({ name: "shops", kinds: [Shop], routes });
    await using server = await WebhookServer.start({ apps: [shops], client: env.client, ...real });
    const ask = (method: string) => sent(server, `${method} /apis/shop.example.com/v1/echo HTTP/1.1`);
    for (const method of methods) {
      const answer = await ask(method);
      expect([method, answer.split("\r\n")[0], answer.includes(`"${method}"`)]).toEqual([
        method,
        "HTTP/1.1 200 OK",
        true,
      ]);
    }
    expect(await sent(server, "CONNECT /apis/shop.example.com/v1/nothing HTTP/1.1")).toMatch(/^HTTP\/1.1 404 /);
    // A HEAD has no body.
    expect(await ask("HEAD")).toMatch(/^HTTP\/1.1 200 OK\r\n(.+\r\n)+\r\n$/);
  });

  it("logs unexpected errors of a handler, not its refusals", async () => {
    await using env = await TestEnvironment.create();
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, error: (line) => void lines.push(line), with: () => log };
    const moody = validating(Shop, {
      create({ spec }) {
        throw spec.open ? new RefusedError(403, "Forbidden", "not now") : new TypeError("x is undefined");
      },
    });
    const shops = app({ name: "shops", kinds: [Shop], validate: [moody] });
    await using _server = await WebhookServer.start({ apps: [shops], client: env.client, log, ...real });
    await expect(env.client.create(Shop, { metadata: { name: "a" }, spec: { open: true } })).rejects.toThrow("not now");
    await expect(env.client.create(Shop, { metadata: { name: "a" }, spec: { open: false } })).rejects.toThrow("500");
    expect(lines).toEqual(["POST /shops/validate failed: x is undefined"]);
  });

  it("serves several apps with handlers of one kind beside each other", async () => {
    await using env = await TestEnvironment.create();
    const marking = (name: string) =>
      app({
        name,
        kinds: [],
        unmanaged: [Namespace],
        mutate: [
          mutating(Namespace, {
            create: (space) => ({
              ...space,
              metadata: { ...space.metadata, labels: { ...space.metadata.labels, [name]: "yes" } },
            }),
          }),
        ],
      });
    await using _server = await WebhookServer.start({
      apps: [marking("one"), marking("two")],
      client: env.client,
      ...real,
    });
    const made = await env.client.create(Namespace, { metadata: { name: "n" } });
    expect(made.metadata.labels).toMatchObject({ one: "yes", two: "yes" });
  });

  it("calls each handler of a kind once per write", async () => {
    await using env = await TestEnvironment.create();
    const asked: string[] = [];
    const doubling = (name: string) =>
      mutating(Order, {
        create(order) {
          asked.push(name);
          return { ...order, spec: { ...order.spec, count: order.spec.count * 2 } };
        },
      });
    const counting = (name: string) => validating(Order, { create: () => void asked.push(name) });
    const shop = app({
      name: "shop",
      kinds: [Order],
      mutate: [doubling("first"), doubling("second")],
      validate: [counting("third"), counting("fourth")],
    });
    await using _server = await WebhookServer.start({ apps: [shop], client: env.client, ...real });
    const made = await env.client.create(Order, { metadata, spec: { item: "tea", count: 1 } });
    expect([asked, made.spec.count]).toEqual([["first", "second", "third", "fourth"], 4]);
  });

  it("installs a new CA before the old one expires", async () => {
    await using env = await TestEnvironment.create();
    const clock = new VirtualClock();
    const shops = app({ name: "shops", kinds: [Shop], validate: [validating(Shop, { create: () => {} })] });
    await using server = await WebhookServer.start({ apps: [shops], client: env.client, clock, random: systemRandom });
    const installed = async () =>
      (await env.client.get(ValidatingWebhookConfiguration, "shops")).webhooks?.[0]?.clientConfig.caBundle;
    const before = server.caBundle;
    expect(await installed()).toBe(before);
    clock.stepWall(2500 * 86_400_000);
    await clock.advance(3_600_000);
    await env.idle();
    expect(server.caBundle).not.toBe(before);
    expect(await installed()).toBe(server.caBundle);
  });

  it("refuses to serve a remote cluster from a laptop, and says why, unless a url or a Service leads to it", async () => {
    const client = derivable({ server: "https://cluster.example.com:6443" });
    await expect(WebhookServer.start({ apps: [orders], client })).rejects.toMatchObject({
      code: "WEBHOOK_UNREACHABLE",
      message: expect.stringContaining("https://cluster.example.com:6443 is not on this machine"),
    });
    const elsewhere = { type: "elsewhere", addresses: [] } as const;
    const url = webhookAddress(client.server, { url: "https://tunnel.example.com/hooks/" }, elsewhere);
    expect(url.hosts).toEqual(["tunnel.example.com"]);
    expect(url.target("/orders/validate", 1)).toEqual({ url: "https://tunnel.example.com/hooks/orders/validate" });
    const plain = { url: "http://tunnel.example.com" };
    expect(() => webhookAddress(client.server, plain, elsewhere)).toThrow("over https");
    const pod = webhookAddress(client.server, { service: { namespace: "shop", name: "hooks" } }, elsewhere);
    expect(pod.hosts).toContain("hooks.shop.svc");
    expect(pod.target("/orders/validate", 1)).toEqual({
      service: { namespace: "shop", name: "hooks", port: 443, path: "/orders/validate" },
    });
  });

  it("refuses to serve a cluster in a container from outside, and names its address", async () => {
    const slice = { endpoints: [{ addresses: ["192.0.2.7"] }], ports: [{ port: 6443 }] };
    const at = (server: string) => derivable({ server, get: async () => slice } as unknown as Partial<Client>);
    await expect(WebhookServer.start({ apps: [orders], client: at("https://127.0.0.1:39411") })).rejects.toMatchObject({
      code: "WEBHOOK_UNREACHABLE",
      message: expect.stringContaining(
        "https://127.0.0.1:39411 is not on this machine (it gives its address as 192.0.2.7)",
      ),
    });
    // A virtual machine may forward its port unchanged; after a change of networks this machine looks the same.
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const client = at("https://127.0.0.1:6443");
    await using _server = await WebhookServer.start({ apps: [orders], client, install: false, log });
    expect(warnings).toContainEqual(expect.stringContaining("its address as 192.0.2.7: unless that is this machine"));
  });

  it("is reached through its Service in a pod, and leaves its webhooks for the next pod", async () => {
    const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
      controlPlane: (options: object) => Promise<AsyncDisposable & { readonly client: Client }>;
    };
    let port = 0;
    const asked: unknown[] = [];
    await using plane = await controlPlane({
      services: ({ namespace, name, port: servicePort }: { namespace: string; name: string; port: number }) => {
        asked.push(`${name}.${namespace}:${servicePort}`);
        return { url: `https://127.0.0.1:${port}` };
      },
    });
    const { client } = plane;
    const service = { namespace: "default", name: "hooks" };
    const server = await WebhookServer.start({ apps: [orders], client, service, port: 0, ...real });
    port = server.port;
    const made = await client.create(Order, { metadata, spec: { item: "tea", count: 6 } });
    expect(made.metadata.annotations).toEqual({ by: expect.any(String) });
    expect((await client.get(OldOrder, "a", here)).spec).toEqual({ item: "tea", pieces: 6 });
    expect(new Set(asked)).toEqual(new Set(["hooks.default:443"]));
    await server[Symbol.asyncDispose]();
    expect((await client.list(ValidatingWebhookConfiguration)).items).toHaveLength(1);
  });

  it("admits remote callers of routes only by token and RBAC", async () => {
    await using env = await TestEnvironment.create();
    const guard = reviewedRoutes(env.client);
    const asked = webRequest("GET", "/apis/shop.example.com/v1/namespaces/default/orders/a/total");
    expect((await guard(orders.routes, asked))?.status).toBe(401);
    const headers = { authorization: "Bearer wrong" };
    expect((await guard(orders.routes, { ...asked, headers }))?.status).toBe(401);

    await env.client.create(ServiceAccount, { metadata: { namespace: "default", name: "caller" } });
    const { status } = await env.client.createSubresource<{ status: { token: string } }>(ServiceAccount, "caller", {
      subresource: "token",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
      namespace: "default",
    });
    const known = { ...asked, headers: { authorization: `Bearer ${status.token}` } };
    expect((await guard(orders.routes, known))?.status).toBe(403);
    const rules = [{ apiGroups: ["shop.example.com"], resources: ["orders/total"], verbs: ["get"] }];
    await env.client.create(Role, { metadata: { namespace: "default", name: "totals" }, rules });
    await env.client.create(RoleBinding, {
      metadata: { namespace: "default", name: "totals" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "totals" },
      subjects: [{ kind: "ServiceAccount", namespace: "default", name: "caller" }],
    });
    await env.idle();
    expect(await guard(orders.routes, known)).toBeUndefined();
  });
});

/** The server's response to a request line, until it closes the connection. */
function sent({ port, caBundle }: WebhookServer, line: string): Promise<string> {
  const ca = Buffer.from(caBundle, "base64");
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect({ host: "127.0.0.1", port, ca });
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.on("error", reject).on("close", () => resolve(answer));
    socket.write(`${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  });
}

function get(url: string, caBundle: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { ca: Buffer.from(caBundle, "base64"), agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") });
    })
      .on("error", reject)
      .end();
  });
}
