import type { KubeObject, ManagedFieldsEntry } from "../kinds/object.js";

/**
 * What of an object the store keeps. All but `managedFields` unless one of these is given.
 *
 * `metadata` asks the server for no more than the metadata. `fields` are paths (`spec.nodeName`,
 * `status.conditions`) kept besides the metadata. `transform` may drop or change anything but the identity
 * (name, namespace, uid, resourceVersion); it must be pure.
 */
export type Projection<T extends KubeObject = KubeObject> =
  | { readonly type: "metadata" }
  | { readonly type: "fields"; readonly fields: readonly string[] }
  | { readonly type: "transform"; readonly transform: (object: T) => unknown };

/** A projection made ready, and the managers whose own `managedFields` entries are kept beside the objects. */
export class Retention {
  readonly isMetadataOnly: boolean;
  /** Given an object without `managedFields`, what is to be stored; absent where that is all of it. */
  readonly reshape: ((object: KubeObject) => object) | undefined;
  readonly #managers = new Set<string>();

  constructor(projection?: Projection) {
    this.isMetadataOnly = projection?.type === "metadata";
    this.reshape = reshapeFor(projection);
  }

  get keepsManagedFields(): boolean {
    return this.#managers.size > 0;
  }

  /** Returns whether the manager is new. */
  keepManager(manager: string): boolean {
    if (this.#managers.has(manager)) return false;
    this.#managers.add(manager);
    return true;
  }

  /** The entries to be kept. Without their times, so that their text is the same for objects of one shape. */
  kept(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
    const kept = entries.filter((entry) => entry.manager !== undefined && this.#managers.has(entry.manager));
    return kept.map(({ time: _, ...entry }) => entry);
  }

  /** The same as JSON; empty where there are none. */
  keepManagedFields(entries: readonly ManagedFieldsEntry[]): string {
    const kept = this.kept(entries);
    return kept.length === 0 ? "" : JSON.stringify(kept);
  }
}

function reshapeFor(projection: Projection | undefined): ((object: KubeObject) => object) | undefined {
  switch (projection?.type) {
    case undefined:
    case "metadata":
      return undefined;
    case "fields": {
      const paths = projection.fields.map((field) => field.split("."));
      return (object) => {
        const kept: Record<string, unknown> = {
          apiVersion: object.apiVersion,
          kind: object.kind,
          metadata: object.metadata,
        };
        for (const path of paths) copyPath(object, kept, path);
        return kept;
      };
    }
    case "transform":
      return (object) => withIdentity(projection.transform(object), object);
  }
}

function copyPath(source: object, target: Record<string, unknown>, path: readonly string[]): void {
  let from: unknown = source;
  for (const field of path) {
    if (typeof from !== "object" || from === null) return;
    from = (from as Record<string, unknown>)[field];
  }
  if (from === undefined || path[0] === "metadata") return;
  let into = target;
  for (const field of path.slice(0, -1)) {
    const next = into[field];
    into[field] = typeof next === "object" && next !== null ? next : {};
    into = into[field] as Record<string, unknown>;
  }
  into[path.at(-1)!] = from;
}

/** The store finds objects by these, so a transform cannot take them away. */
function withIdentity(transformed: unknown, object: KubeObject): object {
  const result = typeof transformed === "object" && transformed !== null ? (transformed as Partial<KubeObject>) : {};
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    ...result,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { ...result.metadata, name, ...(namespace ? { namespace } : {}), uid, resourceVersion },
  };
}
