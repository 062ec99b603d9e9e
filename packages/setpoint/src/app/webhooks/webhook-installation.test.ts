import { hostname } from "node:os";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createClient } from "../../client/api-client.js";
import type { Client } from "../../client/client.js";
import { systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Namespace } from "../../kinds/builtin/v1.js";
import { resource } from "../../kinds/resource.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { errorAnswer } from "../../testing/error-answer.js";
import { TestEnvironment } from "../../testing/test-environment.js";
import { mutating, validating } from "../admission.js";
import { type AppOptions, app } from "../app.js";
import { OldOrder, Order, orders, Shop } from "../app.testing.js";
import { versionRoute } from "../routes/route.js";
import { WebhookServer, type WebhookServerOptions } from "./webhook-server.js";

/** TLS checks certificates against real time, whatever the control plane's clock says. */
const real = { clock: systemClock, random: systemRandom };
const here = { namespace: "default" };
const service = { namespace: "default", name: "hooks" };
const MARK = "setpoint.dev/installed-by";
const HOUR_MS = 3_600_000;

const validate = [validating(Shop, { create: () => {} })];
const mutate = [mutating(Shop, { create: () => undefined })];
const shopsWith = (parts: Partial<AppOptions>) => app({ name: "shops", kinds: [Shop], ...parts });
const serve = (client: Client, parts: Partial<AppOptions>, options: Partial<WebhookServerOptions> = {}) =>
  WebhookServer.start({ apps: [shopsWith(parts)], client, ...real, ...options });

/** A client whose matching requests are refused. */
function refusing(env: TestEnvironment, matches: (method: string, path: string) => boolean): Client {
  return createClient({
    transport: {
      request: async (request) =>
        matches(request.method, request.path)
          ? errorAnswer(403, "Forbidden", "not you")
          : env.client.raw({ ...request, retry: false }),
      [Symbol.asyncDispose]: async () => {},
    },
    server: "in-process",
    clock: env.clock,
  });
}

async function markOf(env: TestEnvironment): Promise<string | undefined> {
  return (await env.client.get(ValidatingWebhookConfiguration, "shops")).metadata.annotations?.[MARK];
}

describe("installed webhooks", () => {
  it("carry an annotation with their installer: the Service, the URL, or the process and its machine", async () => {
    await using env = await TestEnvironment.create();
    for (const [place, mark] of [
      [{ url: "https://127.0.0.1:9443/hooks" }, "url https://127.0.0.1:9443/hooks"],
      [{}, expect.stringMatching(/^process \d+ on .+/)],
      [{ service }, "service default/hooks"],
    ] as const) {
      await using _server = await serve(env.client, { validate }, { ...place, port: 0 });
      expect(await markOf(env)).toEqual(mark);
    }
  });

  it("are neither taken over nor deleted if another installer, or none, is recorded on them", async () => {
    await using env = await TestEnvironment.create();
    await (await serve(env.client, { validate }, { service, port: 0 }))[Symbol.asyncDispose]();
    const taken = expect(serve(env.client, { validate })).rejects;
    await taken.toMatchObject({
      code: "WEBHOOK_TAKEN",
      message: expect.stringMatching(
        /ValidatingWebhookConfiguration shops is of service default\/hooks, not of process/,
      ),
    });
    expect(await markOf(env)).toBe("service default/hooks");

    await env.client.create(MutatingWebhookConfiguration, { metadata: { name: "shops" } });
    const path = "stats";
    const routes = [versionRoute("shop.example.com/v1", "Cluster", { path, handle: () => undefined })];
    await (await serve(env.client, { routes }))[Symbol.asyncDispose]();
    expect(await env.client.find(MutatingWebhookConfiguration, "shops")).toBeDefined();
    expect(await markOf(env)).toBe("service default/hooks");
    await expect(serve(env.client, { mutate })).rejects.toThrow(
      "of another owner: it has no setpoint.dev/installed-by",
    );
  });

  it("are refused to a second instance before it redirects the conversion of the first one", async () => {
    await using env = await TestEnvironment.create();
    const Both = Order.withVersion(OldOrder, {
      up: ({ spec }) => ({ spec: { item: spec.item, count: spec.pieces } }),
      down: ({ spec }) => ({ spec: { item: spec.item, pieces: spec.count } }),
    });
    const conversion = async () =>
      (await env.client.get(CustomResourceDefinition, "orders.shop.example.com")).spec.conversion;
    const first = { url: "https://127.0.0.1:9443" };
    for (const more of [{}, { validate: [validating(Order, { create: () => {} })] }]) {
      const parts = { kinds: [Both], ...more };
      await using _first = await serve(env.client, parts, { ...first, port: 0 });
      const before = await conversion();
      const second = serve(env.client, parts, { url: "https://127.0.0.1:9444", port: 0 });
      await expect(second).rejects.toMatchObject({
        code: "WEBHOOK_TAKEN",
        message: expect.stringContaining("of url https://127.0.0.1:9443, not of url https://127.0.0.1:9444"),
      });
      expect(await conversion()).toEqual(before);
    }
    // The first one has stopped cleanly, so the next one may convert.
    await using _next = await serve(env.client, { kinds: [Both] }, { url: "https://127.0.0.1:9444", port: 0 });
    expect((await conversion())?.webhook?.clientConfig?.url).toContain("9444");
  });

  it("and CRDs are put back as soon as somebody deletes them, but not after the server has stopped", async () => {
    await using env = await TestEnvironment.create();
    const server = await serve(env.client, { validate, mutate });
    const kinds = [ValidatingWebhookConfiguration, MutatingWebhookConfiguration, CustomResourceDefinition] as const;
    const names = ["shops", "shops", "shops.shop.example.com"];
    for (const [at, kind] of kinds.entries()) {
      const { uid } = (await env.client.get(kind as typeof CustomResourceDefinition, names[at]!)).metadata;
      await env.client.delete(kind as typeof CustomResourceDefinition, names[at]!);
      await vi.waitFor(async () => {
        await env.advance("1s");
        const found = await env.client.find(kind as typeof CustomResourceDefinition, names[at]!);
        expect(found && found.metadata.uid !== uid).toBe(true);
      }, 20_000);
    }
    await server[Symbol.asyncDispose]();
    await env.advance("10s");
    expect(await env.client.find(ValidatingWebhookConfiguration, "shops")).toBeUndefined();
  });

  it("are taken over from a dead process of this machine, but not from a live one", async () => {
    await using env = await TestEnvironment.create();
    await using _server = await serve(env.client, { validate });
    const marked = (pid: number) => ({
      type: "merge" as const,
      body: { metadata: { annotations: { [MARK]: `process ${pid} on ${hostname()}` } } },
    });
    await env.client.patch(ValidatingWebhookConfiguration, "shops", marked(process.ppid));
    await expect(serve(env.client, { validate })).rejects.toMatchObject({ code: "WEBHOOK_TAKEN" });
    await env.client.patch(ValidatingWebhookConfiguration, "shops", marked(2 ** 30));
    await using _next = await serve(env.client, { validate });
    expect(await markOf(env)).toContain(`process ${process.pid} `);
  });

  it("of a type that the app no longer has are deleted, unless they point to another process by now", async () => {
    await using env = await TestEnvironment.create();
    const first = await serve(env.client, { validate, mutate });
    await using _second = await serve(env.client, { validate });
    expect(await env.client.find(MutatingWebhookConfiguration, "shops")).toBeUndefined();
    await first[Symbol.asyncDispose]();
    expect(await env.client.find(ValidatingWebhookConfiguration, "shops")).toBeDefined();
  });

  it("are put back by the periodic check after somebody changed or deleted them", async () => {
    await using env = await TestEnvironment.create();
    const clock = new VirtualClock(systemClock.now());
    await using _server = await serve(env.client, { validate }, { clock });
    const policy = async () =>
      (await env.client.find(ValidatingWebhookConfiguration, "shops"))?.webhooks?.map((each) => each.failurePolicy);
    await env.client.delete(ValidatingWebhookConfiguration, "shops");
    await clock.advance(HOUR_MS);
    await expect.poll(policy).toEqual(["Fail"]);
    const operations = [{ op: "replace", path: "/webhooks/0/failurePolicy", value: "Ignore" }] as const;
    await env.client.patch(ValidatingWebhookConfiguration, "shops", { type: "json", operations });
    expect(await policy()).toEqual(["Ignore"]);
    await clock.advance(HOUR_MS);
    await expect.poll(policy).toEqual(["Fail"]);
  });

  it("are not put back if somebody else has replaced them; an error is logged", async () => {
    await using env = await TestEnvironment.create();
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, error: (line) => void lines.push(line), with: () => log };
    const clock = new VirtualClock(systemClock.now());
    await using _server = await serve(env.client, { validate }, { clock, log });
    const body = { metadata: { annotations: { [MARK]: null } }, webhooks: null };
    await env.client.patch(ValidatingWebhookConfiguration, "shops", { type: "merge", body });
    await clock.advance(HOUR_MS);
    await expect.poll(() => lines).toEqual([expect.stringContaining("app shops: the ValidatingWebhookConfiguration")]);
    expect((await env.client.get(ValidatingWebhookConfiguration, "shops")).webhooks).toBeUndefined();
  });

  it("are installed all or none: the first ones are deleted again if a later one fails", async () => {
    await using env = await TestEnvironment.create();
    await using server = await WebhookServer.start({
      apps: [],
      client: refusing(env, (method, path) => method === "PATCH" && path.includes("mutatingwebhook")),
      ...real,
    });
    await expect(server.add(shopsWith({ validate, mutate }))).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    expect(await env.client.find(ValidatingWebhookConfiguration, "shops")).toBeUndefined();
    await env.client.create(Shop, { metadata: { name: "a" }, spec: { open: true } });
  });

  it("go on being served if they cannot be deleted; removing the app then rejects", async () => {
    await using env = await TestEnvironment.create();
    let isRefusing = true;
    const client = refusing(env, (method) => isRefusing && method === "DELETE");
    const shops = shopsWith({ validate });
    await using server = await WebhookServer.start({ apps: [shops], client, ...real });
    await expect(server.remove(shops)).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    await env.client.create(Shop, { metadata: { name: "a" }, spec: { open: true } });
    isRefusing = false;
    await server.remove(shops);
    expect(await env.client.find(ValidatingWebhookConfiguration, "shops")).toBeUndefined();
    await server.remove(shops);
  });
});

describe("an app that is removed", () => {
  it("leaves its objects convertible for as long as the process lives", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    await using server = await WebhookServer.start({ apps: [orders], client, ...real });
    await client.create(Order, { metadata: { ...here, name: "a" }, spec: { item: "tea", count: 2 } });
    await server.remove(orders);
    expect((await client.get(OldOrder, "a", here)).spec).toEqual({ item: "tea", pieces: 2 });
    await client.create(Order, { metadata: { ...here, name: "b" }, spec: { item: "tea", count: 11 } });
    await server.add(orders);
    const many = client.create(Order, { metadata: { ...here, name: "c" }, spec: { item: "tea", count: 11 } });
    await expect(many).rejects.toMatchObject({ status: 409 });
  });
});

describe("an account that may not install kinds", () => {
  it("serves an app whose kinds somebody else installs, unless this process converts them", async () => {
    await using env = await TestEnvironment.create({ kinds: [Shop] });
    const client = refusing(env, (_method, path) => path.includes("customresourcedefinitions"));
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, warn: (line) => void lines.push(line), with: () => log };
    await using _server = await serve(client, { validate }, { log });
    expect(lines).toEqual(["may not install the kind shop.example.com/v1/Shop"]);
    expect(await markOf(env)).toBeDefined();
    await expect(WebhookServer.start({ apps: [orders], client, ...real })).rejects.toMatchObject({
      code: "API_FORBIDDEN",
    });
  });
});

describe("the rules of an installed webhook", () => {
  it("are narrowed by namespaces, labels and conditions, for each handler separately", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    const asked: string[] = [];
    const noting = (name: string, options: object) =>
      validating(Order, { create: ({ metadata }) => void asked.push(`${name} ${metadata.name}`), ...options });
    const shop = app({
      name: "shop",
      kinds: [Order],
      validate: [
        noting("all", {}),
        noting("space", { namespaceSelector: { matchLabels: { team: "a" } } }),
        noting("label", { objectSelector: { matchLabels: { size: "big" } } }),
        noting("condition", { matchConditions: [{ name: "many", expression: "object.spec.count > 5" }] }),
        noting("ignore", { failurePolicy: "Ignore" }),
      ],
    });
    await using _server = await WebhookServer.start({ apps: [shop], client, ...real });
    await client.create(Namespace, { metadata: { name: "a", labels: { team: "a" } } });
    const make = (namespace: string, name: string, count = 1, labels = {}) =>
      client.create(Order, { metadata: { namespace, name, labels }, spec: { item: "tea", count } });
    await make("default", "plain");
    await make("a", "there");
    await make("default", "marked", 1, { size: "big" });
    await make("default", "many", 6);
    expect(asked.toSorted()).toEqual([
      ...["all many", "all marked", "all plain", "all there", "condition many"],
      ...["ignore many", "ignore marked", "ignore plain", "ignore there", "label marked", "space there"],
    ]);
  });

  it("may name a subresource whose objects are of another kind", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    const Stall = resource("shop.example.com/v1/Stall", {
      spec: z.object({ seats: z.int() }),
      status: z.object({ seats: z.int() }),
      scale: { spec: ".spec.seats", status: ".status.seats" },
    });
    const seen: unknown[] = [];
    const stalls = app({
      name: "stalls",
      kinds: [Stall],
      validate: [
        validating(Stall, {
          subresources: ["scale"],
          update: (_object, _old, { kind, subresource }) => void seen.push([kind.kind, subresource]),
        }),
      ],
    });
    await using _server = await WebhookServer.start({ apps: [stalls], client, ...real });
    await client.create(Stall, { metadata: { ...here, name: "a" }, spec: { seats: 1 } });
    const scale = await client.getSubresource<{ metadata: object }>(Stall, "a", { subresource: "scale", ...here });
    await client.updateSubresource(Stall, "a", {
      subresource: "scale",
      body: { ...scale, spec: { replicas: 3 } } as never,
      ...here,
    });
    expect(seen).toEqual([["Scale", "scale"]]);
    expect((await client.get(Stall, "a", here)).spec.seats).toBe(3);
  });
});

it("installs the given caBundle if something else terminates TLS for the url", async () => {
  await using env = await TestEnvironment.create();
  const url = "https://tunnel.example.com";
  for (const [caBundle, installed] of [
    ["system", undefined],
    [Buffer.from("theirs").toString("base64"), Buffer.from("theirs").toString("base64")],
  ] as const) {
    await using _server = await WebhookServer.start({
      apps: [orders],
      client: env.client,
      url,
      port: 0,
      caBundle,
      ...real,
    });
    const { webhooks } = await env.client.get(ValidatingWebhookConfiguration, "orders");
    expect(webhooks?.[0]?.clientConfig).toEqual({ url: `${url}/orders/validate`, ...(installed && { caBundle }) });
    const { spec } = await env.client.get(CustomResourceDefinition, "orders.shop.example.com");
    expect(spec.conversion?.webhook?.clientConfig?.caBundle).toBe(installed);
  }
});
