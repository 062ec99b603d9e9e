import type { KubeObject, UntypedObject } from "./object.js";

export type Scope = "Namespaced" | "Cluster";

/**
 * What a client, an informer or a controller needs to know about a kind: plain data. Built-in kinds are constants of
 * this type (`setpoint/kinds/apps/v1`); `resource(…)` makes kinds with a schema, `untypedKind(…)` kinds without.
 */
export interface Kind<T extends KubeObject = KubeObject, S extends Scope = Scope> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: T["kind"];
  /** `v1` for the core group, otherwise `group/version`. */
  readonly apiVersion: T["apiVersion"];
  /** Lower case, as in the URL. */
  readonly plural: string;
  readonly scope: S;
  /** Carries the static type; never set at run time. */
  readonly "~object"?: T;
}

/** The type of a kind's objects: `ObjectOf<typeof Deployment>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** An object from a server: an object of a namespaced kind has a namespace. */
export type Stored<T extends KubeObject, S extends Scope> = [S] extends ["Namespaced"]
  ? T & { readonly metadata: { readonly namespace: string } }
  : T;

/** A kind whose objects are not typed. */
export type UntypedKind = Kind<UntypedObject>;

/** `apps/v1/Deployment`, `v1/Pod`: unique among the kinds of a server; for maps, metrics and messages. */
export function kindId(kind: Pick<Kind, "apiVersion" | "kind">): string {
  return `${kind.apiVersion}/${kind.kind}`;
}

/** Identifies an object within its kind. `namespace` is empty for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name`, or `name` for a cluster-scoped object: the key of stores and queues. */
export function keyOf(object: Pick<KubeObject, "metadata">): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** Namespace and name of a key; the namespace is empty for objects without one. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
