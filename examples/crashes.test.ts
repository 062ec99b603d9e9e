import type { Kind, KubeObject, NewObject } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { TestEnvironment, type TestEnvironmentOptions } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { Greeting, greetings } from "./01-minimal.js";
import { Website, websites } from "./02-owned-children.js";
import { DnsRecord, dnsRecords } from "./03-finalizer.js";
import { Banner, banners } from "./04-tracked-config-map.js";
import { Database, databases } from "./05-external-system.js";
import { audit, Order } from "./06-watcher.js";
import { Desk, people, rooms, Team } from "./10-several-apps.js";
import { Job, jobs, options } from "./11-leader-election.js";

type Story = (env: TestEnvironment) => Promise<unknown>;

interface Scene {
  readonly options: TestEnvironmentOptions;
  /** What people do, one step after the other. */
  readonly story: readonly Story[];
  /** What the world outside looks like. */
  readonly outside?: () => unknown;
  /** How many writes the operator makes. */
  readonly writes: number;
}

/** Far beyond the writes of any example. */
const NEVER = 1_000_000;

const metadata = { namespace: "default", name: "a" };
const here = { namespace: "default" };

const made =
  <T extends KubeObject>(kind: Kind<T>, object: Omit<NewObject<T>, "metadata">): Story =>
  (env) =>
    env.client.create(kind, { metadata, ...object } as unknown as NewObject<T>);
const changed =
  (kind: Kind, body: object): Story =>
  (env) =>
    env.client.patch(kind, "a", { type: "merge", body: body as never }, here);
const deleted =
  (kind: Kind): Story =>
  (env) =>
    env.client.delete(kind, "a", here);

/** Every example with a reconcile, through creation, change and, where that is more than garbage collection, its end. */
const scenes: Readonly<Record<string, () => Scene>> = {
  "01-minimal": () => ({
    options: { kinds: [Greeting], workloads: [greetings] },
    story: [made(Greeting, { spec: { name: "Ann" } }), changed(Greeting, { spec: { name: "Bob" } })],
    writes: 2,
  }),
  "02-owned-children": () => ({
    options: { kinds: [Website], workloads: [websites] },
    story: [
      made(Website, { spec: { image: "nginx", port: 80 } }),
      changed(Website, { spec: { image: "caddy", port: null } }),
    ],
    writes: 5,
  }),
  "03-finalizer": () => {
    const records = new Map<string, string>();
    const dns = {
      put: async (host: string, address: string) => void records.set(host, address),
      remove: async (host: string) => void records.delete(host),
    };
    const spec = { host: "a.example", address: "10.0.0.1" };
    return {
      options: { kinds: [DnsRecord], workloads: [dnsRecords(dns)] },
      story: [
        made(DnsRecord, { spec }),
        changed(DnsRecord, { spec: { address: "10.0.0.2" } }),
        deleted(DnsRecord),
        made(DnsRecord, { spec: { ...spec, host: "b.example" } }),
      ],
      outside: () => Object.fromEntries(records),
      writes: 3,
    };
  },
  "04-tracked-config-map": () => ({
    options: { kinds: [Banner], workloads: [banners] },
    story: [made(Banner, { spec: { settings: "a" } }), made(ConfigMap, { data: { text: "one" } })],
    writes: 2,
  }),
  "05-external-system": () => {
    const tokens = new Map<string, string>();
    const ready = new Set<string>();
    const provider = {
      create: async (token: string) => tokens.get(token) ?? tokens.set(token, `db-${tokens.size + 1}`).get(token)!,
      urlOf: async (id: string) => (ready.has(id) ? `postgres://${id}` : undefined),
    };
    return {
      options: { kinds: [Database], workloads: [databases(provider)] },
      story: [made(Database, { spec: { size: 1 } }), async () => ready.add("db-1")],
      outside: () => tokens.size,
      writes: 2,
    };
  },
  "06-watcher": () => {
    const lines = new Set<string>();
    return {
      options: { kinds: [Order], workloads: [audit((line) => void lines.add(line))] },
      story: [made(Order, { spec: { item: "tea", count: 1 } }), deleted(Order)],
      outside: () => [...lines],
      writes: 3,
    };
  },
  "10-several-apps": () => ({
    options: { kinds: [Team, Desk], workloads: [...people.workloads, ...rooms.workloads] },
    story: [
      made(Desk, { spec: { team: "a" } }),
      made(Team, { spec: { members: ["ann"] } }),
      changed(Team, { spec: { members: ["ann", "bob"] } }),
    ],
    writes: 4,
  }),
  "11-leader-election": () => ({
    options: { kinds: [Job], workloads: [jobs], manager: options },
    story: [made(Job, { spec: { command: "true" } })],
    writes: 1,
  }),
};

/** Plays a story. After the `crashAt`th write the process is gone, and another one is started. */
async function play(scene: Scene, crashAt: number): Promise<{ hasCrashed: boolean; end: unknown }> {
  await using env = await TestEnvironment.create({ ...scene.options, seed: crashAt });
  const first = env.operator;
  first.crashAfterWrite(crashAt);
  let isRestarted = false;
  for (const step of scene.story) {
    await step(env);
    await env.advance("30s");
    if (!first.hasCrashed || isRestarted) continue;
    isRestarted = true;
    await env.start();
    // A lease of the dead runs out first.
    await env.advance("30s");
  }
  return { hasCrashed: first.hasCrashed, end: [await stateOf(env, scene), scene.outside?.()] };
}

/** All objects of the example's kinds and their children, without what differs from one run to the next. */
async function stateOf(env: TestEnvironment, { options }: Scene): Promise<unknown> {
  const { Deployment } = await import("setpoint/kinds/apps/v1");
  const { Service } = await import("setpoint/kinds/v1");
  const kinds = [...(options.kinds as readonly unknown[] as readonly Kind[]), ConfigMap, Deployment, Service];
  const lists = await Promise.all(kinds.map((kind) => env.client.list(kind, here)));
  return JSON.parse(
    JSON.stringify(
      lists.flatMap(({ items }) => items.filter((item) => item.metadata.name !== "kube-root-ca.crt")),
      (field, value) => (VOLATILE.includes(field) ? undefined : value),
    ),
  );
}

const VOLATILE = ["uid", "resourceVersion", "creationTimestamp", "managedFields", "lastTransitionTime", "generation"];

describe("a crash after every single write of the examples", () => {
  it.each(Object.keys(scenes))(
    "%s comes to the same end",
    async (name) => {
      const { end } = await play(scenes[name]!(), NEVER);
      for (let crashAt = 1; ; crashAt++) {
        const crashed = await play(scenes[name]!(), crashAt);
        expect(crashed.end, `crash after write ${crashAt}`).toEqual(end);
        if (crashed.hasCrashed) continue;
        expect(crashAt - 1).toBe(scenes[name]!().writes);
        break;
      }
    },
    60_000,
  );
});
