import type { Kind, KubeObject, NewObject } from "setpoint";
import { Deployment } from "setpoint/kinds/apps/v1";
import { Job } from "setpoint/kinds/batch/v1";
import { ConfigMap, Service } from "setpoint/kinds/v1";
import type { TestEnvironment, TestEnvironmentOptions } from "setpoint/testing";
import { Greeting, greetings } from "./01-minimal.js";
import { Website, websites } from "./02-owned-children.js";
import { DnsRecord, dnsRecords } from "./03-finalizer.js";
import { Banner, banners } from "./04-tracked-config-map.js";
import { Database, databases } from "./05-external-system.js";
import { audit, Order } from "./06-watcher.js";
import { Desk, people, rooms, Team } from "./10-several-apps.js";
import { Greeting as LedGreeting, options as led, greetings as ledGreetings } from "./11-leader-election.js";
import { Step, steps } from "./13-references.js";

export type Story = (env: TestEnvironment) => Promise<unknown>;

export interface Scene {
  readonly options: TestEnvironmentOptions;
  /** User actions, in order. */
  readonly story: readonly Story[];
  /** The state of the external world. */
  readonly outside?: () => unknown;
  /** The number of writes that the operator makes. */
  readonly writes: number;
}

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

/** Every example with a reconcile: creation, change and, if that is more than garbage collection, deletion. */
export const scenes: Readonly<Record<string, () => Scene>> = {
  "01-minimal": () => ({
    options: { kinds: [Greeting], loops: [greetings] },
    story: [made(Greeting, { spec: { name: "Ann" } }), changed(Greeting, { spec: { name: "Bob" } })],
    writes: 2,
  }),
  "02-owned-children": () => ({
    options: { kinds: [Website], loops: [websites] },
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
      options: { kinds: [DnsRecord], loops: [dnsRecords(dns)] },
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
    options: { kinds: [Banner], loops: [banners] },
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
      options: { kinds: [Database], loops: [databases(provider)] },
      story: [made(Database, { spec: { size: 1 } }), async () => ready.add("db-1")],
      outside: () => tokens.size,
      writes: 2,
    };
  },
  "06-watcher": () => {
    const lines: string[] = [];
    return {
      options: { kinds: [Order], loops: [audit((line) => void lines.push(line))] },
      story: [made(Order, { spec: { item: "tea", count: 1 } }), changed(Order, { spec: { count: 2 } }), deleted(Order)],
      outside: () => lines,
      writes: 3,
    };
  },
  "10-several-apps": () => ({
    options: { kinds: [Team, Desk], loops: [...people.loops, ...rooms.loops] },
    story: [
      made(Desk, { spec: { team: "a" } }),
      made(Team, { spec: { members: ["ann"] } }),
      changed(Team, { spec: { members: ["ann", "bob"] } }),
    ],
    writes: 4,
  }),
  "11-leader-election": () => ({
    options: { kinds: [LedGreeting], loops: [ledGreetings], manager: led },
    story: [made(LedGreeting, { spec: { name: "Ann" } }), changed(LedGreeting, { spec: { name: "Bob" } })],
    writes: 2,
  }),
  "13-references": () => ({
    options: { kinds: [Step], loops: [steps] },
    story: [
      (env) =>
        env.client.create(Step, {
          metadata: { ...metadata, name: "deploy" },
          spec: { image: "app", replicas: 1, after: ["a"] },
        }),
      made(Step, { spec: { image: "migrate" } }),
      (env) => {
        const patch = { type: "merge", body: { status: { succeeded: 1 } } } as const;
        return env.client.patch(Job, "a-1", patch, { ...here, subresource: "status" });
      },
    ],
    writes: 3,
  }),
};

/**
 * All objects of the example's kinds and their children, with field ownership, without values that differ in each run.
 */
export async function stateOf(env: TestEnvironment, { options }: Scene): Promise<unknown> {
  const kinds = [...(options.kinds as readonly unknown[] as readonly Kind[]), ConfigMap, Deployment, Service];
  const lists = await Promise.all(kinds.map((kind) => env.client.list(kind, here)));
  const objects = lists.flatMap(({ items }) => items.filter((item) => item.metadata.name !== "kube-root-ca.crt"));
  const text = JSON.stringify(objects, (field, value) => (VOLATILE.includes(field) ? undefined : value));
  return JSON.parse(text.replaceAll(UID, "UID"));
}

const VOLATILE = ["uid", "resourceVersion", "creationTimestamp", "time", "lastTransitionTime", "generation"];
/** uids within the keys of owned fields. */
const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
