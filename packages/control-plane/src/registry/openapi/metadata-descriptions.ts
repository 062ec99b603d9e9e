import { META } from "./operation-name.js";

/**
 * Descriptions of the metadata fields, for `kubectl explain`. Schemas of built-in kinds have no field descriptions and
 * link to the Kubernetes reference instead. Built-in and custom kinds share the metadata.
 */
const OBJECT_META: Readonly<Record<string, string>> = {
  annotations: "Annotations is a map of texts that tools and people keep with the object. They cannot be selected by.",
  creationTimestamp:
    "CreationTimestamp is a timestamp representing the server time when this object was created. Set by the server; read-only.",
  deletionGracePeriodSeconds:
    "DeletionGracePeriodSeconds is the number of seconds that the object has to end gracefully. Set with deletionTimestamp; read-only.",
  deletionTimestamp:
    "DeletionTimestamp is when the object was, or is to be, deleted. The object goes once its finalizers are gone. Set by the server; read-only.",
  finalizers: "Finalizers must be empty before a deleted object goes. Each names who still has work to do first.",
  generateName:
    "GenerateName is a prefix that the server completes to a unique name where no name is given. It is ignored where one is.",
  generation: "Generation is a number that grows with each change of the desired state. Set by the server; read-only.",
  labels: "Labels is a map of short texts by which objects are selected and grouped.",
  managedFields:
    "ManagedFields tells which manager has set which fields, in which version and when. Kept by the server.",
  name: "Name is unique among the objects of a kind in a namespace. It cannot be changed.",
  namespace: "Namespace is the space within which the name is unique. It cannot be changed.",
  ownerReferences:
    "OwnerReferences are the objects that this one depends on: it is deleted when all of them are. One of them may be its controller.",
  resourceVersion:
    "ResourceVersion is an opaque value that changes with the object, for watches and for updates that must not overwrite others'.",
  selfLink: "SelfLink is no longer filled in.",
  uid: "UID tells this object from every other, also from one of the same name at another time. Set by the server; read-only.",
};

interface Kinded {
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/**
 * Adds a description to the schema of a built-in kind: a link to its reference. The metadata schemas get descriptions
 * of their fields.
 */
export function described<Schema extends object>(name: string, schema: Schema, release: string): Schema {
  const [kind, ...others] = (schema as Kinded)["x-kubernetes-group-version-kind"] ?? [];
  if (name.startsWith(META)) return withFieldDescriptions(name, schema);
  if (kind === undefined || others.length > 0) return schema;
  const anchor = [kind.kind.toLowerCase(), kind.version, kind.group.replaceAll(".", "-") || "core"].join("-");
  const page = `https://kubernetes.io/docs/reference/generated/kubernetes-api/v${release}/#${anchor}`;
  return { description: `${kind.kind}: its fields are described at ${page}`, ...schema };
}

function withFieldDescriptions<Schema extends object>(name: string, schema: Schema): Schema {
  if (name !== `${META}.ObjectMeta`) return schema;
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> };
  const fields = Object.entries(properties).map(([field, part]) => [
    field,
    Object.hasOwn(OBJECT_META, field) ? { description: OBJECT_META[field], ...part } : part,
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}
