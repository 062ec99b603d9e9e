import { Buffer } from "node:buffer";
import type { KubeObject, ManagedFieldsEntry } from "../kinds/object.js";
import { ownField } from "../kinds/own-field.js";

/**
 * Which part of an object the store keeps. Defaults to everything except `managedFields`.
 *
 * `metadata` requests only the metadata from the server. `fields` are paths (`spec.nodeName`, `status.conditions`) kept
 * in addition to the metadata. `transform` may drop or change anything but the identity (name, namespace, uid,
 * resourceVersion); it must be pure.
 */
export type Projection<T extends KubeObject = KubeObject> =
  | { readonly type: "metadata" }
  | { readonly type: "fields"; readonly fields: readonly string[] }
  | { readonly type: "transform"; readonly transform: (object: T) => unknown };

/**
 * The start of an entry and of its time in compact JSON. Quotes within strings are escaped there, so it matches nothing
 * else.
 */
const MANAGER = '"manager":"';
const TIME = /"time":"[^"]*",/;
const PLAIN_NAME = /^[\w .:/-]+$/;

/** A prepared projection, and the managers whose `managedFields` entries are kept. */
export class Retention {
  readonly isMetadataOnly: boolean;
  /** Maps an object without `managedFields` to what is stored; absent if that is all of it. */
  readonly reshape: ((object: KubeObject) => object) | undefined;
  readonly #managers = new Set<string>();
  /** How an entry of each manager looks in compact JSON; undefined if JSON may spell a manager's name in several ways. */
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

  /** Whether compact JSON may contain an entry to keep: looking costs a tenth of parsing. */
  #mayKeep(json: Buffer): boolean {
    return this.#marks === undefined || this.#marks.some((mark) => json.includes(mark));
  }

  /** The entries to keep, without their times, so that objects of one shape share the text. */
  kept(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
    const kept = entries.filter((entry) => entry.manager !== undefined && this.#managers.has(entry.manager));
    return kept.map(({ time: _, ...entry }) => entry);
  }

  /** The same from compact JSON to JSON; empty for none. */
  keepManagedFields(json: Buffer): string {
    if (!this.#mayKeep(json)) return "";
    const text = json.toString("utf8");
    // Most applied objects have only one manager: then nothing needs to be parsed.
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

/** Adds what the source has at the path to the target, unless it is there already. */
function withPath<T extends object>(target: T, source: object, [field = "", ...rest]: readonly string[]): T {
  const [value, before] = [source, target].map((record) => ownField(record as Record<string, unknown>, field));
  if (value === undefined || value === before) return target;
  if (rest.length === 0) return { ...target, [field]: value };
  if (typeof value !== "object" || value === null) return target;
  const inner = withPath((before ?? {}) as object, value, rest);
  return inner === before || Object.keys(inner).length === 0 ? target : { ...target, [field]: inner };
}

/** The store finds objects by these, so a transform cannot remove them. */
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
