import { SetpointError } from "setpoint";
import type { Schema } from "./schema.js";

/** A published schema from the OpenAPI document, with references. */
export interface OpenApiSchema extends Omit<Schema, "properties" | "items" | "additionalProperties" | "allOf"> {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly allOf?: readonly OpenApiSchema[];
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Schemas of types with their own marshaller, which the document does not describe. */
const SPECIAL: Readonly<Record<string, Schema>> = {
  "io.k8s.apimachinery.pkg.runtime.RawExtension": {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-map-type": "atomic",
  },
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { "x-kubernetes-int-or-string": true },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": { "x-kubernetes-preserve-unknown-fields": true },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": {
    "x-kubernetes-preserve-unknown-fields": true,
  },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": {
    "x-kubernetes-preserve-unknown-fields": true,
  },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": {
    "x-kubernetes-preserve-unknown-fields": true,
  },
};

/** Resolves references of published schemas: each component once, at first use. */
export class SchemaGraph {
  readonly #components: () => Readonly<Record<string, OpenApiSchema>>;
  readonly #resolved = new Map<string, Schema>();
  #byKind: Map<string, string> | undefined;

  constructor(components: () => Readonly<Record<string, OpenApiSchema>>) {
    this.#components = components;
  }

  componentOf(group: string, version: string, kind: string): string | undefined {
    this.#byKind ??= indexByKind(this.#components());
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  schemaOf(group: string, version: string, kind: string): Schema | undefined {
    const name = this.componentOf(group, version, kind);
    return name === undefined ? undefined : this.#component(name);
  }

  #component(name: string): Schema {
    const known = this.#resolved.get(name);
    if (known) return known;
    const source = this.#components()[name];
    if (!source)
      throw new SetpointError("CONTROL_PLANE_BUG", `the published schemas refer to ${name}, which is not among them`);
    // Registered before it is resolved, because a component may contain itself.
    const resolved: Writable<Schema> = {};
    this.#resolved.set(name, resolved);
    const { "x-kubernetes-group-version-kind": _kinds, ...rest } = source;
    return Object.assign(resolved, SPECIAL[name] ?? this.#resolve(rest));
  }

  #resolve(source: OpenApiSchema): Schema {
    const { $ref, allOf, default: value, ...siblings } = source;
    const reference = $ref ?? allOf?.[0]?.$ref;
    if (reference !== undefined) {
      const target = this.#component(reference.slice(reference.lastIndexOf("/") + 1));
      // The default beside a reference is always `{}`. Without it, all users of a component share one schema.
      return Object.keys(siblings).length === 0 ? target : { ...target, ...(siblings as Schema) };
    }
    const resolved: Writable<Schema> = { ...(siblings as Schema) };
    if (value !== undefined) resolved.default = value;
    if (source.properties) {
      resolved.properties = Object.fromEntries(
        Object.entries(source.properties).map(([name, property]) => [name, this.#resolve(property)]),
      );
    }
    if (source.items) resolved.items = this.#resolve(source.items);
    const { additionalProperties } = source;
    if (typeof additionalProperties === "object") resolved.additionalProperties = this.#resolve(additionalProperties);
    return resolved;
  }
}

function indexByKind(components: Readonly<Record<string, OpenApiSchema>>): Map<string, string> {
  const index = new Map<string, string>();
  for (const [name, schema] of Object.entries(components)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      index.set(`${group}/${version}/${kind}`, name);
    }
  }
  return index;
}
