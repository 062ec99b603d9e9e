import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Client } from "../client/client.js";
import { systemClock } from "../clock/system-clock.js";
import { ConfigMap, Namespace } from "../kinds/builtin/v1.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject, KubeObject } from "../kinds/object.js";
import type { Informer, InformerEvent } from "./informer.js";
import { Informers } from "./informers.js";

interface Gadget extends KubeObject {
  readonly spec: { readonly size: number; readonly text?: string };
}

const Gadget: Kind<Gadget> = {
  group: "informer.example.com",
  version: "v1",
  kind: "Gadget",
  apiVersion: "informer.example.com/v1",
  plural: "gadgets",
  scope: "Namespaced",
};

const Definition: Kind = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};

const definition = {
  metadata: { name: "gadgets.informer.example.com" },
  spec: {
    group: Gadget.group,
    scope: "Namespaced",
    names: { kind: "Gadget", listKind: "GadgetList", plural: "gadgets", singular: "gadget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as unknown as JsonObject & { metadata: { name: string } };

const NAMESPACE = "informer-suite";

/** Resolves when the condition holds, however long a real server takes. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await systemClock.sleep(20);
}

const names = (informer: Informer<KubeObject>): string[] => [...informer.keys()].sort();

/** The behaviour of informers on any API server. `open` returns an administrator's client. */
export function informerSuite(server: string, open: () => Promise<Client>): void {
  describe(`informers on ${server}`, () => {
    let client: Client;

    beforeAll(async () => {
      client = await open();
      // The namespace of an earlier suite may still be terminating.
      await vi.waitFor(() => client.create(Namespace, { metadata: { name: NAMESPACE } }), { timeout: 30_000 });
    });

    afterAll(async () => {
      await client.delete(Definition, definition.metadata.name).catch(() => undefined);
      await client.delete(Namespace, NAMESPACE).catch(() => undefined);
      await client[Symbol.asyncDispose]();
    });

    const configMap = (name: string, value: string, labels: Record<string, string> = {}) => ({
      metadata: { name, namespace: NAMESPACE, labels },
      data: { value },
    });

    it.each([true, false])("sees existing objects and events (streamed lists: %s)", async (streamsLists) => {
      await using informers = new Informers(client, { streamsLists });
      await client.create(ConfigMap, configMap("before", "1"));
      const maps = informers.for(ConfigMap, { namespaces: [NAMESPACE] });
      const seen: string[] = [];
      const handler = maps.addHandler((event) => {
        if (event.key.startsWith(`${NAMESPACE}/kube-`)) return;
        seen.push(`${event.type} ${event.key} ${event.object?.data?.value}`);
      });
      await handler.synced;
      expect(maps.get(`${NAMESPACE}/before`)).toMatchObject({
        apiVersion: "v1",
        kind: "ConfigMap",
        data: { value: "1" },
      });
      expect(maps.get(`${NAMESPACE}/before`)?.metadata).not.toHaveProperty("managedFields");
      await client.patch(
        ConfigMap,
        "before",
        { type: "merge", body: { data: { value: "2" } } },
        { namespace: NAMESPACE },
      );
      await client.create(ConfigMap, configMap("after", "3"));
      await client.delete(ConfigMap, "before", { namespace: NAMESPACE });
      await client.delete(ConfigMap, "after", { namespace: NAMESPACE });
      await until(() => seen.length >= 5);
      expect(seen).toEqual([
        `add ${NAMESPACE}/before 1`,
        `update ${NAMESPACE}/before 2`,
        `add ${NAMESPACE}/after 3`,
        `delete ${NAMESPACE}/before 2`,
        `delete ${NAMESPACE}/after 3`,
      ]);
    });

    it("respects its label and field selectors as objects enter and leave them", async () => {
      await using informers = new Informers(client);
      const red = informers.for(ConfigMap, { namespaces: [NAMESPACE], labelSelector: "color=red" });
      const one = informers.for(ConfigMap, { namespaces: [NAMESPACE], fieldSelector: "metadata.name=scoped" });
      await Promise.all([red.synced(), one.synced()]);
      await client.create(ConfigMap, configMap("scoped", "1", { color: "red" }));
      await client.create(ConfigMap, configMap("other", "1", { color: "blue" }));
      await until(() => names(red).length === 1 && names(one).length === 1);
      const blue = { metadata: { labels: { color: "blue" } } };
      await client.patch(ConfigMap, "scoped", { type: "merge", body: blue }, { namespace: NAMESPACE });
      await until(() => names(red).length === 0);
      expect(names(one)).toEqual([`${NAMESPACE}/scoped`]);
      for (const name of ["scoped", "other"]) await client.delete(ConfigMap, name, { namespace: NAMESPACE });
      await until(() => names(one).length === 0);
    });

    it("respects several namespaces in one informer, each of them synced, and reports its memory", async () => {
      await using informers = new Informers(client);
      const namespaces = [NAMESPACE, "default"];
      const maps = informers.for(ConfigMap, { namespaces, labelSelector: "suite=several" });
      const seen: string[] = [];
      const handler = maps.addHandler(({ type, key }) => void seen.push(`${type} ${key}`));
      await handler.synced;
      const bytesBefore = maps.status().bytes;
      const labels = { suite: "several" };
      const inPlaces = [...namespaces, "kube-public"].map((namespace) => ({ namespace, name: "several", labels }));
      for (const metadata of inPlaces) await client.create(ConfigMap, { metadata, data: { value: "x".repeat(1_000) } });
      await until(() => seen.length === 2);
      expect(names(maps)).toEqual(["default/several", `${NAMESPACE}/several`]);
      expect([...maps.list({ namespace: "default" })].map(({ metadata }) => metadata.namespace)).toEqual(["default"]);
      expect(maps.status().bytes - bytesBefore).toBeGreaterThan(2_000);
      for (const { name, namespace } of inPlaces) await client.delete(ConfigMap, name, { namespace });
      await until(() => seen.length === 4);
      expect(seen.slice(2).sort()).toEqual(["delete default/several", `delete ${NAMESPACE}/several`]);
    });

    it("reads its own writes, and its own deletes after a wait", async () => {
      await using informers = new Informers(client);
      const maps = informers.for(ConfigMap, { namespaces: [NAMESPACE] });
      await maps.synced();
      for (let round = 0; round < 20; round++) {
        const key = `${NAMESPACE}/own`;
        const created = await client.create(ConfigMap, configMap("own", String(round)));
        maps.observe(created);
        expect(maps.get(key)?.data).toEqual({ value: String(round) });
        const deleted = await client.delete(ConfigMap, "own", { namespace: NAMESPACE });
        if (deleted?.metadata.deletionTimestamp) maps.observe(deleted);
        expect(await maps.observeDelete(key, created.metadata.uid)).toEqual({ expired: false });
        expect(maps.has(key)).toBe(false);
      }
    });

    it("can keep metadata only, and the managedFields of a chosen manager", async () => {
      await using informers = new Informers(client);
      await client.apply(
        ConfigMap,
        { apiVersion: "v1", kind: "ConfigMap", ...configMap("kept", "1") },
        { fieldManager: "suite" },
      );
      const bare = informers.for(ConfigMap, { namespaces: [NAMESPACE] }, { projection: { type: "metadata" } });
      const managed = informers.for(ConfigMap, { namespaces: [NAMESPACE] }, { keepManager: "suite" });
      await Promise.all([bare.synced(), managed.synced()]);
      const key = `${NAMESPACE}/kept`;
      expect(bare.get(key)).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kept" } });
      expect(bare.get(key)).not.toHaveProperty("data");
      expect(managed.get(key)?.metadata.managedFields).toMatchObject([{ manager: "suite", operation: "Apply" }]);
      await client.delete(ConfigMap, "kept", { namespace: NAMESPACE });
    });

    it("waits for a missing kind, and follows it as it appears, vanishes and comes back", async () => {
      await using informers = new Informers(client);
      const gadgets = informers.for(Gadget);
      const seen: InformerEvent<Gadget>[] = [];
      gadgets.addHandler((event) => void seen.push(event));
      await until(() => gadgets.status().phase === "waiting-for-kind");
      for (const size of [1, 2]) {
        await client.create(Definition, definition);
        await gadgets.synced();
        await until(() => gadgets.status().phase === "watching");
        await createWhenServed(client, size);
        await until(() => gadgets.get(`${NAMESPACE}/gadget`)?.spec.size === size);
        await client.delete(Definition, definition.metadata.name);
        await until(() => gadgets.status().phase === "waiting-for-kind");
        expect(gadgets.status().objects).toBe(0);
      }
      expect(seen.map((event) => event.type)).toEqual(["add", "delete", "add", "delete"]);
    }, 120_000);
  });
}

async function createWhenServed(client: Client, size: number): Promise<void> {
  for (;;) {
    try {
      await client.create(Gadget, { metadata: { name: "gadget", namespace: NAMESPACE }, spec: { size } });
      return;
    } catch (error) {
      if ((error as { status?: number }).status !== 404) throw error;
      await systemClock.sleep(50);
    }
  }
}
