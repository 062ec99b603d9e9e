import { Buffer } from "node:buffer";
import type { KubeObject, ManagedFieldsEntry } from "../kinds/object.js";
import { ownField } from "../kinds/own-field.js";

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

/** How an entry begins, and its time, in compact JSON: quotes within texts are escaped there, so that it is nothing else. */
const MANAGER = '"manager":"';
const TIME = /"time":"[^"]*",/;
const PLAIN_NAME = /^[\w .:/-]+$/;

/** A projection made ready, and the managers whose own `managedFields` entries are kept beside the objects. */
export class Retention {
  readonly isMetadataOnly: boolean;
  /** Given an object without `managedFields`, what is to be stored; absent where that is all of it. */
  readonly reshape: ((object: KubeObject) => object) | undefined;
  readonly #managers = new Set<string>();
  /** How an entry of each manager shows in compact JSON; undefined where one has a name that JSON may spell in several ways. */
  #marks: Buffer[] | undefined = [];

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
    if (PLAIN_NAME.test(manager)) this.#marks?.push(Buffer.from(`"manager":"${manager}"`));
    else this.#marks = undefined;
    return true;
  }

  /** Whether an entry that is kept may stand in compact JSON: to look costs a tenth of what it costs to parse. */
  #mayKeep(json: Buffer): boolean {
    return this.#marks === undefined || this.#marks.some((mark) => json.includes(mark));
  }

  /** The entries to be kept. Without their times, so that their text is the same for objects of one shape. */
  kept(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
    const kept = entries.filter((entry) => entry.manager !== undefined && this.#managers.has(entry.manager));
    return kept.map(({ time: _, ...entry }) => entry);
  }

  /** The same of compact JSON and as JSON; empty where there are none. */
  keepManagedFields(json: Buffer): string {
    if (!this.#mayKeep(json)) return "";
    const text = json.toString("utf8");
    // Most objects that a manager applies have no other: then nothing need be parsed.
    const isSole = this.#marks !== undefined && text.indexOf(MANAGER) === text.lastIndexOf(MANAGER);
    if (isSole && TIME.test(text)) return text.replace(TIME, "");
    const kept = this.kept(JSON.parse(text) as ManagedFieldsEntry[]);
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
        const { apiVersion, kind, metadata } = object;
        return paths.reduce((kept, path) => withPath(kept, object, path), { apiVersion, kind, metadata });
      };
    }
    case "transform":
      return (object) => withIdentity(projection.transform(object), object);
  }
}

/** The target with what the source has at the path, as far as it does not have it yet. */
function withPath<T extends object>(target: T, source: object, [field = "", ...rest]: readonly string[]): T {
  const [value, before] = [source, target].map((record) => ownField(record as Record<string, unknown>, field));
  if (value === undefined || value === before) return target;
  if (rest.length === 0) return { ...target, [field]: value };
  if (typeof value !== "object" || value === null) return target;
  const inner = withPath((before ?? {}) as object, value, rest);
  return inner === before || Object.keys(inner).length === 0 ? target : { ...target, [field]: inner };
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
