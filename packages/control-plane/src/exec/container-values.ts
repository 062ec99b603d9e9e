import type { KubeObject } from "setpoint";
import type { ConfigMap, Pod, Secret } from "setpoint/kinds/v1";
import type { Storage } from "../storage/storage.js";

/** Values for a container, from ConfigMaps and Secrets in its namespace and from the pod itself. */
export class ContainerValues {
  readonly #storage: Storage;
  readonly #pod: Pod;

  constructor(storage: Storage, pod: Pod) {
    this.#storage = storage;
    this.#pod = pod;
  }

  /** All keys of a ConfigMap; empty if it does not exist. */
  configMap(name: string): ReadonlyMap<string, Buffer> {
    const { data = {}, binaryData = {} } = this.#beside<ConfigMap>("/configmaps", name) ?? {};
    return new Map([
      ...Object.entries(data).map(([key, text]): [string, Buffer] => [key, Buffer.from(text)]),
      ...Object.entries(binaryData).map(([key, text]): [string, Buffer] => [key, Buffer.from(text, "base64")]),
    ]);
  }

  secret(name: string): ReadonlyMap<string, Buffer> {
    const { data = {} } = this.#beside<Secret>("/secrets", name) ?? {};
    return new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64")]));
  }

  /** A pod field as the downward API names it: `metadata.labels['app']`, `status.podIP`. Undefined for others. */
  field(path: string): string | undefined {
    const map = /^metadata\.(labels|annotations)(?:\['(.+)'\])?$/.exec(path);
    if (map) {
      const entries = this.#pod.metadata[map[1] as "labels" | "annotations"] ?? {};
      if (map[2] !== undefined) return Object.hasOwn(entries, map[2]) ? entries[map[2]] : "";
      return Object.entries(entries)
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join("\n");
    }
    const value = path
      .split(".")
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], this.#pod);
    return typeof value === "string" ? value : undefined;
  }

  #beside<Found extends KubeObject>(resource: string, name: string): Found | undefined {
    return this.#storage.get(resource, `${this.#pod.metadata.namespace}/${name}`)?.object as Found | undefined;
  }
}
