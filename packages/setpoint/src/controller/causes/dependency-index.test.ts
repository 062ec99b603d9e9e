import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kinds/object.js";
import { DependencyIndex, identityOf, type ObjectStep, type Read } from "./dependency-index.js";

const configMap = (name: string, labels?: Record<string, string>): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "team", uid: name, resourceVersion: "1", creationTimestamp: "", labels },
});
const step = (old: KubeObject | undefined, object: KubeObject | undefined): ObjectStep => ({
  source: "v1/ConfigMap",
  key: `team/${(old ?? object)!.metadata.name}`,
  old,
  object,
});
const readersOf = (index: DependencyIndex, of: ObjectStep): string[] => [...index.readersOf(of)].sort();

describe("DependencyIndex", () => {
  it("knows who looked for an object that did not exist", () => {
    const index = new DependencyIndex();
    index.add("team/a", { type: "object", source: "v1/ConfigMap", key: "team/settings" });
    expect(readersOf(index, step(undefined, configMap("settings")))).toEqual(["team/a"]);
    expect(readersOf(index, step(undefined, configMap("other")))).toEqual([]);
    expect(readersOf(index, { ...step(undefined, configMap("settings")), source: "v1/Secret" })).toEqual([]);
  });

  it("wakes the reader of a list if an object enters, changes in or leaves it", () => {
    const index = new DependencyIndex();
    const matches = ({ metadata }: KubeObject): boolean => metadata.labels?.app === "web";
    index.add("team/a", { type: "list", source: "v1/ConfigMap", namespace: "team", labelSelector: "app=web", matches });
    index.add("other/b", { type: "list", source: "v1/ConfigMap", namespace: "other" });
    index.add("c", { type: "list", source: "v1/ConfigMap" });
    expect(readersOf(index, step(undefined, configMap("x", { app: "web" })))).toEqual(["c", "team/a"]);
    expect(readersOf(index, step(configMap("x", { app: "web" }), configMap("x")))).toEqual(["c", "team/a"]);
    expect(readersOf(index, step(configMap("x", { app: "web" }), undefined))).toEqual(["c", "team/a"]);
    expect(readersOf(index, step(configMap("x"), configMap("x")))).toEqual(["c"]);
  });

  it("finds the readers of lists by namespace and label, without checking all others", () => {
    const index = new DependencyIndex();
    const asked: string[] = [];
    const read = (namespace: string | undefined, app: string): void => {
      const reader = `${namespace ?? "all"}/${app}`;
      const matches = ({ metadata }: KubeObject): boolean => {
        asked.push(reader);
        return metadata.labels?.app === app;
      };
      const labelSelector = `app=${app}`;
      index.add(reader, {
        type: "list",
        source: "v1/ConfigMap",
        namespace,
        labelSelector,
        matches,
        shared: [{ type: "label", name: "app", text: app }],
      });
    };
    for (let at = 0; at < 100; at++) for (const namespace of ["team", "other", undefined]) read(namespace, `app-${at}`);
    index.add("team/plain", { type: "list", source: "v1/ConfigMap", namespace: "team" });
    const moved = step(configMap("x", { app: "app-7" }), configMap("x", { app: "app-8", tier: "front" }));
    const readers = ["all/app-7", "all/app-8", "team/app-7", "team/app-8"];
    expect(readersOf(index, moved)).toEqual([...readers, "team/plain"]);
    expect(new Set(asked)).toEqual(new Set(readers));
    for (const reader of readers) index.forget(reader);
    expect(readersOf(index, moved)).toEqual(["team/plain"]);
  });

  it("finds the readers of lists by field value, without checking those of other values", () => {
    const index = new DependencyIndex();
    const asked: string[] = [];
    for (const node of ["a", "b", "c"]) {
      const matches = (object: KubeObject): boolean => {
        asked.push(node);
        return (object as unknown as { spec: { node: string } }).spec.node === node;
      };
      const shared = [{ type: "field", name: "spec.node", text: node }] as const;
      index.add(node, { type: "list", source: "v1/ConfigMap", fieldSelector: `spec.node=${node}`, matches, shared });
    }
    const on = (node: string): KubeObject => ({ ...configMap("x"), spec: { node } }) as KubeObject;
    expect(readersOf(index, step(on("a"), on("b")))).toEqual(["a", "b"]);
    expect(new Set(asked)).toEqual(new Set(["a", "b"]));
    index.forget("a");
    expect(readersOf(index, step(on("a"), on("c")))).toEqual(["c"]);
  });

  it("checks few readers of lists that share one label and differ in another", () => {
    const index = new DependencyIndex();
    let asked = 0;
    for (let at = 0; at < 100; at++) {
      const cluster = `c-${at}`;
      const matches = ({ metadata }: KubeObject): boolean => {
        asked++;
        return metadata.labels?.cluster === cluster;
      };
      const shared = [
        { type: "label", name: "app", text: "postgres" },
        { type: "label", name: "cluster", text: cluster },
      ] as const;
      index.add(cluster, { type: "list", source: "v1/ConfigMap", labelSelector: cluster, matches, shared });
    }
    for (let at = 0; at < 100; at++) {
      const added = configMap("x", { app: "postgres", cluster: `c-${at}` });
      expect(readersOf(index, step(undefined, added))).toEqual([`c-${at}`]);
    }
    expect(asked).toBeLessThanOrEqual(200);
    for (let at = 0; at < 100; at++) index.forget(`c-${at}`);
    expect(readersOf(index, step(undefined, configMap("x", { app: "postgres", cluster: "c-1" })))).toEqual([]);
  });

  it("wakes the reader of an index value", () => {
    const index = new DependencyIndex();
    index.add("team/a", { type: "index", source: "v1/ConfigMap", index: "image", value: "nginx" });
    const changed = step(configMap("x"), configMap("x"));
    expect(readersOf(index, { ...changed, indexed: () => ["caddy", "nginx"] })).toEqual(["team/a"]);
    expect(readersOf(index, { ...changed, indexed: () => ["caddy"] })).toEqual([]);
  });

  it("forgets reads that the last run did not repeat", () => {
    const index = new DependencyIndex();
    const first: Read = { type: "object", source: "v1/ConfigMap", key: "team/first" };
    const second: Read = { type: "object", source: "v1/ConfigMap", key: "team/second" };
    index.add("team/a", first);
    index.add("team/a", second);
    index.add("team/b", first);
    index.retain("team/a", new Set([identityOf(second)]));
    expect([...index.readsOf("team/a")]).toEqual([second]);
    expect(readersOf(index, step(undefined, configMap("first")))).toEqual(["team/b"]);
    index.forget("team/b");
    index.forget("team/a");
    expect(readersOf(index, step(undefined, configMap("second")))).toEqual([]);
  });
});
