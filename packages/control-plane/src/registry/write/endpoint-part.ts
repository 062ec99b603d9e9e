import type { KubeObject, ObjectMeta } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import { internalError } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";

const ALL_METADATA = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/**
 * Limits a write to the part of the object that its endpoint may change, as the real server's strategies do. The main
 * endpoint cannot write the status. `status` writes only the status and the metadata that the kind allows. `approval`
 * and `finalize` also write metadata; `ephemeralcontainers` and `resize` do not.
 */
export function limitedToEndpoint(
  definition: ResourceDefinition,
  subresource: string,
  object: KubeObject,
  old: KubeObject,
): KubeObject {
  switch (subresource) {
    case "":
      return definition.strategy.hasStatus ? withField(object, "status", (old as UntypedObject).status) : object;
    case "status":
      return withStatusAlone(definition, object, old);
    case "approval":
      return withPart(object, { ...old, metadata: object.metadata }, "status", "conditions");
    case "finalize":
      return withPart(object, { ...old, metadata: object.metadata }, "spec", "finalizers");
    case "ephemeralcontainers":
      return withPart(object, withOldMetadata(object, old), "spec", "ephemeralContainers");
    case "resize":
      return withResources(object, old);
    case "scale":
    case "binding":
      // The server itself built this object from the old one and the request.
      return object;
    default:
      throw internalError(`the endpoint ${subresource} writes no part of an object`);
  }
}

/** The old object at the version of the write, with the new field ownership. */
function withOldMetadata(object: KubeObject, old: KubeObject): KubeObject {
  return { ...old, metadata: withMetadataKept(object.metadata, old.metadata, ALL_METADATA) };
}

function withMetadataKept(
  metadata: ObjectMeta,
  old: ObjectMeta,
  fields: readonly (typeof ALL_METADATA)[number][],
): ObjectMeta {
  let result: Readonly<Record<string, unknown>> = { ...metadata };
  for (const field of fields) result = replaced(result, field, old[field]);
  return result as unknown as ObjectMeta;
}

function withPart(object: KubeObject, old: KubeObject, outer: string, inner: string): KubeObject {
  const given = partOf(object, outer)?.[inner];
  const before = partOf(old, outer);
  // If neither object has the outer field, do not create it: an empty spec differs from no spec.
  if (given === undefined && before === undefined) return old;
  return { ...old, [outer]: replaced(before ?? {}, inner, given) } as KubeObject;
}

function partOf(object: KubeObject, name: string): Readonly<Record<string, unknown>> | undefined {
  const part = (object as UntypedObject)[name];
  return typeof part === "object" && part !== null ? (part as Readonly<Record<string, unknown>>) : undefined;
}

/**
 * A resize changes only resources and resize policies. If containers were added, removed, renamed or reordered,
 * validation must see that.
 */
function withResources(object: KubeObject, old: KubeObject): KubeObject {
  const given = partOf(object, "spec") ?? {};
  const before = partOf(old, "spec") ?? {};
  const counts = (spec: Readonly<Record<string, unknown>>): string =>
    `${containersOf(spec, "containers").length}/${containersOf(spec, "initContainers").length}`;
  if (counts(given) !== counts(before)) return object;
  let spec = replaced(before, "resources", given.resources);
  for (const list of ["containers", "initContainers"] as const) {
    if (containersOf(before, list).length > 0) {
      spec = { ...spec, [list]: resized(containersOf(given, list), containersOf(before, list)) };
    }
  }
  return { ...withOldMetadata(object, old), spec } as KubeObject;
}

type Container = Readonly<Record<string, unknown>>;

function containersOf(spec: Readonly<Record<string, unknown>>, list: string): readonly Container[] {
  return Array.isArray(spec[list]) ? (spec[list] as readonly Container[]) : [];
}

function resized(given: readonly Container[], before: readonly Container[]): readonly Container[] {
  if (given.some(({ name }, index) => name !== before[index]!.name)) return given;
  return before.map((container, index) => {
    const { resources, resizePolicy } = given[index]!;
    return replaced(replaced(container, "resources", resources), "resizePolicy", resizePolicy);
  });
}

function withStatusAlone({ strategy, isBuiltIn }: ResourceDefinition, object: KubeObject, old: KubeObject): KubeObject {
  const { status } = object as UntypedObject;
  const { resourceVersion, managedFields } = object.metadata;
  if (!isBuiltIn) {
    const metadata = { ...old.metadata, resourceVersion, ...(managedFields && { managedFields }) };
    return withField({ ...old, metadata }, "status", status);
  }
  const metadata = withMetadataKept(object.metadata, old.metadata, strategy.statusKeeps ?? []);
  return withField({ ...old, metadata }, "status", status);
}

function withField(object: KubeObject, field: string, value: unknown): KubeObject {
  return replaced(object as unknown as Readonly<Record<string, unknown>>, field, value) as unknown as KubeObject;
}

/** Sets or removes a field. A field with the value undefined cannot be stored. */
function replaced<Value extends Readonly<Record<string, unknown>>>(
  object: Value,
  field: string,
  value: unknown,
): Readonly<Record<string, unknown>> {
  if (value !== undefined) return { ...object, [field]: value };
  if (!(field in object)) return object;
  const { [field]: _dropped, ...rest } = object;
  return rest;
}
