import { Secret } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { DruidWorld, scriptedDruid } from "../druid-world.testing.js";
import { sampleDruid } from "../sample.testing.js";
import { routerUrl } from "./endpoint.js";

const PATH = "/druid/coordinator/v1/config";
const cluster = (dynamicConfig: object, spec: object = {}) =>
  sampleDruid({ coordinators: { nodeType: "coordinator", dynamicConfig }, routers: { nodeType: "router" } }, spec);
const synced = async (world: DruidWorld) =>
  (await world.druid("tiny")).status?.conditions?.find(({ type }) => type === "ConfigSynced");

describe("dynamic configuration", { timeout: 120_000 }, () => {
  it("is sent once if a value differs, and not if all match [D41]", async () => {
    let config: object = { maxSegmentsToMove: 5, other: true };
    const druid = scriptedDruid((method, path, body) => {
      if (path !== PATH) return { status: 404 };
      if (method === "POST") config = { ...config, ...JSON.parse(body!) };
      return config;
    });
    await using world = await DruidWorld.create({ call: druid.call });
    await world.create(cluster({ maxSegmentsToMove: 5 }));
    await world.env.advance("10m");
    expect(druid.sent.filter((request) => request.startsWith("POST"))).toEqual([]);
    expect(await synced(world)).toMatchObject({ status: "True", reason: "Synced" });
    await world.patch("tiny", { spec: { nodes: { coordinators: { dynamicConfig: { maxSegmentsToMove: 9 } } } } });
    await world.env.advance("10m");
    expect(druid.sent.filter((request) => request.startsWith("POST"))).toEqual([`POST ${PATH}`]);
    expect(await world.events("tiny")).toContain(`DruidAPIUpdateConfigsSuccess: ${PATH}: updated`);
  });

  it("is retried if Druid fails, and nothing else waits for it [D41]", async () => {
    let isWell = false;
    const druid = scriptedDruid(() => (isWell ? { a: 1 } : { status: 500, body: "boom" }));
    await using world = await DruidWorld.create({ call: druid.call });
    await world.create(cluster({ a: 1 }));
    await world.env.advance("1m");
    expect(await synced(world)).toMatchObject({
      status: "False",
      reason: "DruidAPIFetchCurrentConfigsFailed",
      message: expect.stringContaining("500: boom"),
    });
    expect((await world.druid("tiny")).status?.statefulSets).toHaveLength(2);
    isWell = true;
    await world.env.advance("10m");
    expect(await synced(world)).toMatchObject({ status: "True" });
  });

  it("does not block the children of any cluster while Druid never answers", async () => {
    await using world = await DruidWorld.create({ call: () => new Promise(() => {}) });
    for (let at = 0; at < 40; at++)
      await world.create({ ...cluster({ a: 1 }), metadata: { name: `tiny-${at}`, namespace: "default" } as never });
    await world.env.idle();
    for (const at of [0, 39]) expect((await world.druid(`tiny-${at}`)).status?.statefulSets).toHaveLength(2);
  });

  it("is not sent forever if Druid drops a key", async () => {
    const druid = scriptedDruid(() => ({ a: 1 }));
    await using world = await DruidWorld.create({ call: druid.call });
    await world.create(cluster({ a: 1, unknown: 2 }));
    await world.env.advance("30m");
    expect(druid.sent.filter((request) => request.startsWith("POST"))).toHaveLength(1);
    expect(await synced(world)).toMatchObject({
      status: "False",
      reason: "KeysIgnored",
      message: `Druid does not take ${PATH}: unknown`,
    });
  });

  it("reads user and password from a Secret, by the stated keys [D43]", async () => {
    const headers: unknown[] = [];
    const call = async (request: { headers: object }) => {
      headers.push((request.headers as Record<string, string>).authorization);
      return { status: 200, body: '{"a":1}' };
    };
    await using world = await DruidWorld.create({ call });
    const auth = { type: "basic-auth", secretRef: { name: "test", namespace: "default" } };
    await world.create(cluster({ a: 1 }, { auth: { ...auth, usernameKey: "nope" } }));
    await world.env.idle();
    expect(await synced(world)).toMatchObject({
      status: "False",
      reason: "DruidAPIGetAuthCredsFailed",
      message: "secret default/test not found",
    });
    const data = {
      OperatorUserName: Buffer.from("admin").toString("base64"),
      OperatorPassword: Buffer.from("secret").toString("base64"),
    };
    await world.env.client.create(Secret, { metadata: { name: "test", namespace: "default" }, data });
    await world.env.advance("1s");
    expect((await synced(world))?.message).toBe('username key "nope" not found in secret default/test');
    await world.patch("tiny", { spec: { auth: { usernameKey: null } } });
    await world.env.advance("1s");
    expect(headers.at(-1)).toBe(`Basic ${Buffer.from("admin:secret").toString("base64")}`);
    expect(await synced(world)).toMatchObject({ status: "True" });
  });
});

describe("the address of Druid", () => {
  const router = (more: object, spec: object = {}) =>
    routerUrl(sampleDruid({ routers: { nodeType: "router", "druid.port": 8888, ...more } }, spec));

  it("has the router's port, or that of its Service if that translates ports [D44]", () => {
    expect(router({})).toBe("http://druid-tiny-routers.default:8888");
    const service = { spec: { ports: [{ name: "web", port: 80, targetPort: 8888 }] } };
    expect(router({ services: [service] })).toBe("http://druid-tiny-routers.default:80");
    expect(router({ services: [{ ...service, spec: { ...service.spec, clusterIP: "None" } }] })).toBe(
      "http://druid-tiny-routers.default:8888",
    );
  });

  it("is https if Druid serves TLS, and absent without a router's Service", () => {
    const tls = "druid.enableTlsPort=true\ndruid.tlsPort=9443";
    expect(router({}, { "common.runtime.properties": tls })).toBe("https://druid-tiny-routers.default:9443");
    expect(router({ services: [] })).toBeUndefined();
    expect(routerUrl(sampleDruid({ brokers: { nodeType: "broker" } }))).toBeUndefined();
  });
});
