import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { findCondition } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Job } from "setpoint/kinds/batch/v1";
import { ConfigMap, Event, Service } from "setpoint/kinds/v1";
import type { Manager } from "setpoint/manager";
import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { Greeting, greetings } from "./01-minimal.js";
import { Website, websites } from "./02-owned-children.js";
import { DnsRecord, dnsRecords } from "./03-finalizer.js";
import { Banner, banners } from "./04-tracked-config-map.js";
import { Database, databases } from "./05-external-system.js";
import { audit, Order } from "./06-watcher.js";
import { Coupon, coupons } from "./07-admission.js";
import { VolumeV1, VolumeV1beta1, volumes } from "./08-conversion.js";
import { Invoice, invoices } from "./09-custom-route.js";
import { Desk, people, rooms, Team } from "./10-several-apps.js";
import { options as electing, Greeting as LedGreeting, greetings as ledGreetings } from "./11-leader-election.js";
import { Step, steps } from "./13-references.js";

const namespace = "default";
const metadata = { namespace, name: "a" };
const here = { namespace };

describe("the examples", () => {
  it("a status follows its spec [01]", async () => {
    await using env = await TestEnvironment.create({ kinds: [Greeting], loops: [greetings] });
    await env.client.create(Greeting, { metadata, spec: { name: "Ann" } });
    await env.idle();
    expect((await env.client.get(Greeting, "a", here)).status).toEqual({ text: "Hello, Ann!" });
  });

  it("children are created, corrected and pruned [02]", async () => {
    await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites] });
    await env.client.create(Website, { metadata, spec: { image: "nginx", port: 80 } });
    await env.idle();
    await env.client.delete(Service, "a", here);
    await env.idle();
    expect((await env.client.get(Service, "a", here)).spec?.ports?.[0]?.port).toBe(80);
    const patch = { type: "json", operations: [{ op: "remove", path: "/spec/port" }] } as const;
    await env.client.patch(Website, "a", patch, here);
    await env.idle();
    expect(await env.client.find(Service, "a", here)).toBeUndefined();
    expect((await env.client.get(Deployment, "a", here)).spec?.replicas).toBe(1);
  });

  it("the record is removed before its object is deleted, also after a restart [03]", async () => {
    const records = new Map<string, string>();
    const workload = dnsRecords({
      put: async (host, address) => void records.set(host, address),
      remove: async (host) => void records.delete(host),
    });
    await using env = await TestEnvironment.create({ kinds: [DnsRecord], loops: [workload] });
    await env.client.create(DnsRecord, { metadata, spec: { host: "a.example", address: "10.0.0.1" } });
    await env.idle();
    expect(records.get("a.example")).toBe("10.0.0.1");
    const renamed = env.client.patch(DnsRecord, "a", { type: "merge", body: { spec: { host: "b.example" } } }, here);
    await expect(renamed).rejects.toThrow("cannot change: create another DnsRecord");
    await env.operator[Symbol.asyncDispose]();
    await env.client.delete(DnsRecord, "a", here);
    expect(await env.client.find(DnsRecord, "a", here)).toBeDefined();
    await env.start();
    expect(records.size).toBe(0);
    expect(await env.client.find(DnsRecord, "a", here)).toBeUndefined();
  });

  it("a ConfigMap that appears or changes triggers its readers [04]", async () => {
    await using env = await TestEnvironment.create({ kinds: [Banner], loops: [banners] });
    const text = async () => (await env.client.get(Banner, "a", here)).status?.text;
    await env.client.create(Banner, { metadata, spec: { settings: "texts" } });
    await env.idle();
    expect(await text()).toBe("no settings yet");
    await env.client.create(ConfigMap, { metadata: { namespace, name: "texts" }, data: { text: "one" } });
    await env.idle();
    expect(await text()).toBe("one");
    await env.client.patch(ConfigMap, "texts", { type: "merge", body: { data: { text: "two" } } }, here);
    await env.idle();
    expect(await text()).toBe("two");
  });

  it("a wait shows as a condition and ends with the external work [05]", async () => {
    const urls = new Map<string, string>();
    let creations = 0;
    const provider = { create: async () => `db-${++creations}`, urlOf: async (id: string) => urls.get(id) };
    await using env = await TestEnvironment.create({ kinds: [Database], loops: [databases(provider)] });
    await env.client.create(Database, { metadata, spec: { size: 1 } });
    await env.idle();
    const waiting = (await env.client.get(Database, "a", here)).status;
    expect(waiting?.id).toBe("db-1");
    expect(findCondition(waiting?.conditions ?? [], "Reconciled")).toMatchObject({
      status: "False",
      reason: "DatabaseReady",
    });
    urls.set("db-1", "postgres://db-1");
    await env.advance("10s");
    const ready = (await env.client.get(Database, "a", here)).status;
    expect(ready).toMatchObject({ id: "db-1", url: "postgres://db-1" });
    expect(findCondition(ready?.conditions ?? [], "Reconciled")?.status).toBe("True");
    expect(creations).toBe(1);
    await env.client.patch(Database, "a", { type: "merge", body: { spec: { size: 2 } } }, here);
    await env.advance("1m");
    const { items } = await env.client.list(Event, here);
    expect(items.filter(({ reason }) => reason === "Ready").map(({ count }) => count ?? 1)).toEqual([1]);
  });

  it("each step of an order is recorded, including the last [06]", async () => {
    const lines: string[] = [];
    await using env = await TestEnvironment.create({
      kinds: [Order],
      loops: [audit((line) => void lines.push(line))],
    });
    await env.client.create(Order, { metadata, spec: { item: "tea", count: 1 } });
    await env.idle();
    await env.client.patch(Order, "a", { type: "merge", body: { spec: { count: 2 } } }, here);
    await env.idle();
    await env.client.delete(Order, "a", here);
    await env.idle();
    expect(lines).toEqual(["a: ordered 1 tea", "a: 1 became 2", "a: cancelled"]);
    expect(await env.client.find(Order, "a", here)).toBeUndefined();
  });

  it("objects are defaulted and validated, with warnings [07]", async () => {
    await using env = await TestEnvironment.create({ loops: [coupons] });
    const { client } = env;
    const made = await client.create(Coupon, { metadata, spec: { code: "spring", percent: 10 } });
    expect(made.spec.code).toBe("SPRING");
    const change = client.patch(Coupon, "a", { type: "merge", body: { spec: { code: "FALL" } } }, here);
    await expect(change).rejects.toMatchObject({ status: 422, reason: "Invalid" });
    const large = {
      apiVersion: Coupon.apiVersion,
      kind: Coupon.kind,
      metadata: { name: "b" },
      spec: { code: "x", percent: 40 },
    };
    const { status, headers } = await client.raw({
      method: "POST",
      path: "/apis/shop.example.com/v1/namespaces/default/coupons",
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(large)),
    });
    expect([status, headers.warning]).toEqual([201, ['299 - "40 % is a lot"']]);
  });

  it("objects are read and written in both versions [08]", async () => {
    await using env = await TestEnvironment.create({ loops: [volumes] });
    const { client } = env;
    await client.create(VolumeV1beta1, { metadata, spec: { sizeMi: 2048 } });
    expect((await client.get(VolumeV1, "a", here)).spec).toEqual({ size: { amount: 2, unit: "Gi" } });
    await client.patch(VolumeV1, "a", { type: "merge", body: { spec: { size: { unit: "Mi" } } } }, here);
    expect((await client.get(VolumeV1beta1, "a", here)).spec).toEqual({ sizeMi: 2 });
  });

  it("routes answer below objects and versions, and pass errors on [09]", async () => {
    await using env = await TestEnvironment.create();
    const { client } = env;
    const { manager } = await env.start([invoices(client)]);
    const ask = (path: string) => get(manager, `/apis/shop.example.com/v1/${path}`);
    const lines = [
      { item: "tea", cents: 250 },
      { item: "cake", cents: 400 },
    ];
    await client.create(Invoice, { metadata, spec: { lines } });
    expect(await ask("namespaces/default/invoices/a/total")).toEqual({ status: 200, json: { cents: 650 } });
    expect(await ask("statistics")).toEqual({ status: 200, json: { invoices: 1 } });
    expect(await ask("namespaces/default/invoices/b/total")).toMatchObject({
      status: 404,
      json: { kind: "Status", reason: "NotFound", message: 'invoices.shop.example.com "b" not found' },
    });
  });

  it("two apps share a process, a cache and a webhook server [10]", async () => {
    await using env = await TestEnvironment.create({ loops: [people, rooms] });
    const { client } = env;
    await client.create(Desk, { metadata, spec: { team: "a" } });
    await expect(client.create(Team, { metadata, spec: { members: [] } })).rejects.toThrow("a team has members");
    await client.create(Team, { metadata, spec: { members: ["ann", "bob"] } });
    await env.idle();
    expect((await client.get(Desk, "a", here)).status).toEqual({ seats: 2 });
    expect((await client.get(ConfigMap, "a", here)).data).toEqual({ members: "ann,bob" });
  });

  it("one process works; the other takes over when it ends [11]", async () => {
    await using env = await TestEnvironment.create({
      kinds: [LedGreeting],
      loops: [ledGreetings],
      manager: electing,
    });
    const first = env.operator;
    const second = await env.start();
    await env.client.create(LedGreeting, { metadata, spec: { name: "Ann" } });
    await env.advance("3s");
    expect([first.manager.isLeading, second.manager.isLeading]).toEqual([true, false]);
    expect((await env.client.get(LedGreeting, "a", here)).status).toEqual({ text: "Hello, Ann!" });
    expect(second.writes).toEqual([]);
    await first[Symbol.asyncDispose]();
    await env.advance("5s");
    expect(second.manager.isLeading).toBe(true);
    await env.client.create(LedGreeting, { metadata: { namespace, name: "b" }, spec: { name: "Bob" } });
    await env.idle();
    expect((await env.client.get(LedGreeting, "b", here)).status).toEqual({ text: "Hello, Bob!" });
    expect(second.writes).toHaveLength(1);
  });

  it("a migration runs before a deployment, and that before a smoke test [13]", async () => {
    await using env = await TestEnvironment.create({ kinds: [Step], loops: [steps], simulate: true });
    const create = (name: string, spec: { image: string; after?: string[]; replicas?: number }) =>
      env.client.create(Step, { metadata: { namespace, name }, spec });
    await create("smoke-test", { image: "test", after: ["deploy"] });
    await create("deploy", { image: "app:1", replicas: 2, after: ["migrate"] });
    await create("migrate", { image: "migrate:1" });
    await env.advance("10m");
    const made = async () => [
      ...(await env.client.list(Job, here)).items,
      ...(await env.client.list(Deployment, here)).items,
    ];
    const [migration, deployment, test] = ["migrate-1", "deploy", "smoke-test-1"];
    const times = Object.fromEntries((await made()).map(({ metadata }) => [metadata.name, metadata.creationTimestamp]));
    expect(Object.keys(times).sort()).toEqual([deployment, migration, test]);
    expect(times[migration]! < times[deployment]! && times[deployment]! < times[test]!).toBe(true);
    const finished = (await env.client.list(Step, here)).items.map(({ status }) => status?.finished);
    expect(finished).toEqual(["app:1", "migrate:1", "test"]);
  });

  it("nothing is deployed after a failed migration, and all goes on once it succeeds [13]", async () => {
    await using env = await TestEnvironment.create({ kinds: [Step], loops: [steps] });
    await env.client.create(Step, {
      metadata: { namespace, name: "deploy" },
      spec: { image: "app:1", replicas: 1, after: ["migrate"] },
    });
    await env.client.create(Step, { metadata: { namespace, name: "migrate" }, spec: { image: "migrate:1" } });
    await env.idle();
    const end = (status: object) => (name: string) =>
      env.client.patch(Job, name, { type: "merge", body: { status } as never }, { ...here, subresource: "status" });
    await end({ failed: 1 })("migrate-1");
    await env.idle();
    expect(await env.client.find(Deployment, "deploy", here)).toBeUndefined();
    await env.client.patch(Step, "migrate", { type: "merge", body: { spec: { image: "migrate:2" } } }, here);
    await env.idle();
    await end({ succeeded: 1 })("migrate-2");
    await env.idle();
    expect(await env.client.find(Deployment, "deploy", here)).toBeDefined();
    expect((await env.client.list(Job, here)).items.map(({ metadata }) => metadata.name)).toEqual(["migrate-2"]);
  });

  it("are thirteen, each under 60 lines", () => {
    const files = readdirSync(import.meta.dirname).filter((name) => /^\d\d-.*\.ts$/.test(name));
    const long = files.filter((name) => readFileSync(`${import.meta.dirname}/${name}`, "utf8").split("\n").length > 60);
    expect([files.length, long]).toEqual([13, []]);
  });

  it("of a whole operator has several files, and less than 400 lines with its tests", () => {
    const folder = `${import.meta.dirname}/postgres`;
    const texts = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8"));
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.join("").split("\n").length).toBeLessThan(400);
    // Uses the real file names, because Node loads them by these.
    expect(texts.join("")).not.toMatch(/from "\.\/[\w-]+\.js"/);
  });
});

function get(manager: Manager, path: string): Promise<{ readonly status: number; readonly json: unknown }> {
  const ca = Buffer.from(manager.webhookCaBundle ?? "", "base64");
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: manager.webhookPort, path, ca, agent: false };
    const asked = request(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(chunks).toString("utf8")) });
    });
    asked.on("error", reject).end();
  });
}
