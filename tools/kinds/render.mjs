// Renders facts of a server as TypeScript: one file per group and version. Pure, so that a test can compare its output
// with the checked-in files.

/** Schemas that Setpoint types by hand, with their module: relative to kinds/, empty for a type of the language. */
const HAND_WRITTEN = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": { type: "string" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": { type: "string" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": { type: "JsonObject", module: "object" },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": { type: "JsonObject", module: "object" },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: "IntOrString", module: "schema/int-or-string" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
    type: "Partial<ObjectMeta>",
    import: "ObjectMeta",
    module: "object",
  },
  "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference": { type: "OwnerReference", module: "object" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry": { type: "ManagedFieldsEntry", module: "object" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.Condition": { type: "Condition", module: "condition" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector": { type: "LabelSelector", module: "selector/label-selector" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement": {
    type: "LabelSelectorRequirement",
    module: "selector/label-selector",
  },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": { type: "JsonValue", module: "object" },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": {
    type: "JSONSchemaProps | readonly JSONSchemaProps[]",
  },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": {
    type: "JSONSchemaProps | boolean",
  },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": {
    type: "JSONSchemaProps | readonly string[]",
  },
};

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/** Wrappers of objects, such as lists, for which the client has its own types. */
const isEnvelope = (name, schema) => /(List|WatchEvent|Patch)$/.test(name) && (!schema.properties || isListOf(schema));
const isListOf = (schema) => schema.properties?.items !== undefined && schema.properties.metadata !== undefined;

/** @returns {Map<string, string>} path under kinds/builtin → text */
export function render(facts) {
  const schemas = new Map();
  const modules = new Map();
  for (const groupVersion of facts.groupVersions) {
    for (const [name, schema] of Object.entries(groupVersion.schemas)) {
      if (isEnvelope(name, schema)) continue;
      schemas.set(name, schema);
      const owner = schema["x-kubernetes-group-version-kind"]?.find(({ group }) => group === groupVersion.group);
      if (owner && !name.startsWith(META) && owner.version === groupVersion.version) {
        modules.set(name.slice(0, name.lastIndexOf(".") + 1), moduleOf(groupVersion));
      }
    }
  }
  modules.set(META, "meta/v1");
  const files = new Map();
  for (const groupVersion of facts.groupVersions) {
    const path = moduleOf(groupVersion);
    files.set(`${path}.ts`, renderModule(path, { facts, groupVersion, schemas, modules }));
  }
  files.set("meta/v1.ts", renderModule("meta/v1", { facts, schemas, modules }));
  return files;
}

const moduleOf = ({ group, version }) => (group ? `${group}/${version}` : version);

function renderModule(path, { facts, groupVersion, schemas, modules }) {
  const prefix = [...modules].find(([, module]) => module === path)[0];
  const imports = new Imports(path, prefix, modules, schemas);
  const version = facts.gitVersion.replace(/^v|[-+].*$/g, "");
  const kinds = kindsOf(groupVersion);
  const names = reachable(prefix, schemas);
  const blocks = names.sort().map((name) => {
    const kind = kinds.get(name.slice(prefix.length));
    const text = renderInterface(name.slice(prefix.length), schemas.get(name), kind, imports);
    return kind ? withReference(text, kind, version) : text;
  });
  return [
    `// Generated from the OpenAPI documents of Kubernetes ${version} by tools/kinds/generate.mjs. Do not edit.`,
    ...imports.lines(),
    "",
    blocks.join("\n\n"),
    "",
  ].join("\n");
}

/** Does not copy field descriptions: each kind links to its documentation. */
function withReference(text, { group, version, kind }, release) {
  const [minor] = /^\d+\.\d+/.exec(release);
  const anchor = [kind.toLowerCase(), version, group.replaceAll(".", "-") || "core"].join("-");
  const comment = `/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v${minor}/#${anchor} */`;
  return text.replace(/^export (interface|const)/gm, (heading) => `${comment}\n${heading}`);
}

/** The kinds with their own URLs; others (Scale, Eviction) are bodies of subresources. */
function kindsOf(groupVersion) {
  const kinds = new Map();
  for (const resource of groupVersion?.resources ?? []) {
    if (resource.name.includes("/")) continue;
    kinds.set(resource.kind, {
      group: groupVersion.group,
      version: groupVersion.version,
      kind: resource.kind,
      apiVersion: moduleOf(groupVersion),
      plural: resource.name,
      scope: resource.namespaced ? "Namespaced" : "Cluster",
    });
  }
  return kinds;
}

/** The schemas of one module; shared ones only if a kind uses them. */
function reachable(prefix, schemas) {
  const own = [...schemas.keys()].filter((name) => name.startsWith(prefix) && !HAND_WRITTEN[name]);
  if (prefix !== META) return own;
  const found = new Set();
  const visit = (name) => {
    if (found.has(name) || HAND_WRITTEN[name]) return;
    found.add(name);
    refsIn(schemas.get(name)).forEach(visit);
  };
  [...schemas.keys()].filter((name) => !name.startsWith(META)).forEach(visit);
  return own.filter((name) => found.has(name));
}

function refsIn(schema) {
  return [...JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]);
}

function renderInterface(name, schema, kind, imports) {
  const required = new Set(schema.required);
  const fields = headFirst(Object.entries(schema.properties ?? {})).map(([field, type]) => {
    if (kind && (field === "apiVersion" || field === "kind")) {
      return `  readonly ${field}: ${JSON.stringify(kind[field])};`;
    }
    if (kind && field === "metadata") return `  readonly metadata: ${imports.local("ObjectMeta", "object")};`;
    const optional = required.has(field) || isNeverEmpty(field, type, imports.schemas) ? "" : "?";
    return `  readonly ${propertyName(field)}${optional}: ${typeOf(type, imports)};`;
  });
  if (kind) imports.local("KubeObject", "object");
  const heading = `export interface ${name}${kind ? " extends KubeObject" : ""} {`;
  const body =
    fields.length > 0
      ? `${heading}\n${fields.join("\n")}\n}`
      : `export type ${name} = Readonly<Record<string, never>>;`;
  return kind ? `${body}\n\n${renderDescriptor(kind, imports)}` : body;
}

/** The common fields of all objects, then the others in the document's order. */
function headFirst(entries) {
  const head = ["apiVersion", "kind", "metadata"];
  const rank = ([field]) => (head.includes(field) ? head.indexOf(field) : head.length);
  return entries.sort((a, b) => rank(a) - rank(b));
}

/** A spec with required fields is always present, although the document (because of Go) does not say so. */
function isNeverEmpty(field, type, schemas) {
  const target = refsIn(type)[0];
  return field === "spec" && type.default !== undefined && target && (schemas.get(target)?.required?.length ?? 0) > 0;
}

function renderDescriptor(kind, imports) {
  const fields = Object.entries(kind).map(([field, value]) => `  ${field}: ${JSON.stringify(value)},`);
  const type = `${imports.local("Kind", "kind")}<${kind.kind}, ${JSON.stringify(kind.scope)}>`;
  return `export const ${kind.kind}: ${type} = {\n${fields.join("\n")}\n};`;
}

const propertyName = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema, imports) {
  const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0].$ref : undefined);
  if (ref) return imports.reference(ref.slice("#/components/schemas/".length));
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array": {
      const item = typeOf(schema.items, imports);
      return `readonly ${/[|]|^readonly /.test(item) ? `(${item})` : item}[]`;
    }
    case "object":
      if (!schema.additionalProperties) return imports.local("JsonObject", "object");
      return `Readonly<Record<string, ${typeOf(schema.additionalProperties, imports)}>>`;
    default:
      throw new Error(`cannot render ${JSON.stringify(schema)}`);
  }
}

/** Collects the imports of a module while it is rendered. */
class Imports {
  #path;
  #prefix;
  #modules;
  #local = new Map();
  #namespaces = new Map();

  constructor(path, prefix, modules, schemas) {
    this.#path = path;
    this.#prefix = prefix;
    this.#modules = modules;
    this.schemas = schemas;
  }

  /** A type of the folder kinds/ itself. */
  local(name, module) {
    if (!this.#local.has(module)) this.#local.set(module, new Set());
    this.#local.get(module).add(name);
    return name;
  }

  reference(name) {
    const hand = HAND_WRITTEN[name];
    if (hand) {
      if (hand.module) this.local(hand.import ?? hand.type, hand.module);
      return hand.type;
    }
    const prefix = name.slice(0, name.lastIndexOf(".") + 1);
    if (prefix === this.#prefix) return name.slice(prefix.length);
    const module = this.#modules.get(prefix);
    if (!module) throw new Error(`no module for ${name}`);
    const alias = module.includes("/") ? module.replace(/[./].*$/, "") : "core";
    this.#namespaces.set(alias, module);
    return `${alias}.${name.slice(prefix.length)}`;
  }

  lines() {
    const up = "../".repeat(this.#path.split("/").length);
    const local = [...this.#local]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([module, names]) => `import type { ${[...names].sort().join(", ")} } from "${up}${module}.js";`);
    const here = "../".repeat(this.#path.split("/").length - 1) || "./";
    const others = [...this.#namespaces]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([alias, module]) => `import type * as ${alias} from "${here}${module}.js";`);
    return [...local, ...others];
  }
}
