import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  WebhookClientConfig,
} from "../builtin/apiextensions.k8s.io/v1.js";
import {
  type ColumnOptions,
  invalidKind,
  type OlderVersion,
  type ResourceDeclaration,
  type ScaleOptions,
} from "../declaration.js";
import { ownField } from "../own-field.js";
import type { StructuralSchema } from "../schema/structural-schema.js";

export interface CrdOptions {
  /** Where the server finds the conversion webhook; required for a kind whose versions convert. */
  readonly conversionWebhook?: WebhookClientConfig;
  /** The storage version, if it is not the kind's own. */
  readonly storage?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A CustomResourceDefinition as it is written to a server or a file. */
export interface CrdManifest {
  readonly apiVersion: CustomResourceDefinition["apiVersion"];
  readonly kind: CustomResourceDefinition["kind"];
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: CustomResourceDefinitionSpec;
}

export function crdOf(declaration: ResourceDeclaration, options: CrdOptions = {}): CrdManifest {
  const { group, kind, plural, scope, versions, version } = declaration;
  const { singular = kind.toLowerCase(), shortNames, categories } = declaration.options;
  const storage = options.storage ?? version;
  if (![version, ...versions.map((older) => older.declaration.version)].includes(storage)) {
    throw invalidKind(`${kind}: storage`, `there is no version ${storage}`);
  }
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      ...(options.labels ? { labels: options.labels } : {}),
      ...(options.annotations ? { annotations: options.annotations } : {}),
    },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames?.length ? { shortNames } : {}),
        ...(categories?.length ? { categories } : {}),
      },
      conversion: conversionOf(declaration, options),
      versions: [
        versionOf(declaration, { served: true }, storage),
        ...versions.map((older) => versionOf(older.declaration, older, storage)),
      ],
    },
  };
}

function conversionOf(
  declaration: ResourceDeclaration,
  options: CrdOptions,
): CustomResourceDefinitionSpec["conversion"] {
  if (!declaration.versions.some((older) => older.up)) return { strategy: "None" };
  if (!options.conversionWebhook) {
    throw invalidKind(
      `${declaration.kind}: conversionWebhook`,
      "its versions need a conversion webhook: give its address, or use an app(…) with this kind, which sets it",
    );
  }
  return {
    strategy: "Webhook",
    webhook: { clientConfig: options.conversionWebhook, conversionReviewVersions: ["v1"] },
  };
}

function versionOf(
  declaration: ResourceDeclaration,
  { served = true, deprecated }: Pick<OlderVersion, "served" | "deprecated">,
  storage: string,
): CustomResourceDefinitionVersion {
  const { columns = {}, scale, selectableFields = [] } = declaration.options;
  const subresources = {
    ...(declaration.hasStatus ? { status: {} } : {}),
    ...(scale ? { scale: scaleOf(declaration, scale) } : {}),
  };
  return {
    name: declaration.version,
    served,
    storage: declaration.version === storage,
    ...(deprecated === undefined ? {} : { deprecated: true, deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: declaration.schema },
    ...(Object.keys(subresources).length > 0 ? { subresources } : {}),
    ...(Object.keys(columns).length > 0
      ? {
          additionalPrinterColumns: Object.entries(columns).map(([name, column]) =>
            columnOf(declaration, name, column),
          ),
        }
      : {}),
    ...(selectableFields.length > 0
      ? { selectableFields: selectableFields.map((path) => ({ jsonPath: selectable(declaration, path) })) }
      : {}),
  };
}

function columnOf(
  declaration: ResourceDeclaration,
  name: string,
  column: string | ColumnOptions,
): CustomResourceColumnDefinition {
  const { path, type, ...rest } = typeof column === "string" ? { path: column } : column;
  if (!path.startsWith(".")) {
    throw invalidKind(`${declaration.kind}: columns.${name}`, `"${path}" is not a path such as .spec.replicas`);
  }
  return { name, type: type ?? columnType(declaration, name, path), jsonPath: path, ...rest };
}

/** The type of the field that a column shows. */
function columnType(declaration: ResourceDeclaration, name: string, path: string): string {
  if (/^\.metadata\.(creation|deletion)Timestamp$/.test(path)) return "date";
  if (path.startsWith(".metadata.") || !isPlainPath(path)) return "string";
  const field = fieldAt(declaration, path, `columns.${name}`);
  if (field.format === "date-time" || field.format === "date") return "date";
  return ["integer", "number", "boolean"].includes(field.type ?? "") ? field.type! : "string";
}

const isPlainPath = (path: string): boolean => /^(\.[A-Za-z_][\w-]*)+$/.test(path);

/** The schema of the field at a path; throws `KIND_INVALID` if there is none. */
function fieldAt(declaration: ResourceDeclaration, path: string, option: string): StructuralSchema {
  const where = `${declaration.kind}: ${option}`;
  if (!isPlainPath(path)) throw invalidKind(where, `"${path}" is not a path such as .spec.replicas`);
  let schema = declaration.schema;
  for (const name of path.split(".").slice(1)) {
    if (schema["x-kubernetes-preserve-unknown-fields"] && !ownField(schema.properties, name)) return {};
    const map = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
    const next = ownField(schema.properties, name) ?? map;
    if (!next) throw invalidKind(where, `the schema has no field ${path}`);
    schema = next;
  }
  return schema;
}

function scaleOf(declaration: ResourceDeclaration, scale: ScaleOptions) {
  const expect = (path: string, option: string, root: string, type: string): string => {
    if (!path.startsWith(`${root}.`))
      throw invalidKind(`${declaration.kind}: scale.${option}`, `must be under ${root}`);
    const found = fieldAt(declaration, path, `scale.${option}`).type;
    if (found !== type) throw invalidKind(`${declaration.kind}: scale.${option}`, `${path} must be of type ${type}`);
    return path;
  };
  return {
    specReplicasPath: expect(scale.spec, "spec", ".spec", "integer"),
    statusReplicasPath: expect(scale.status, "status", ".status", "integer"),
    ...(scale.selector === undefined
      ? {}
      : { labelSelectorPath: expect(scale.selector, "selector", ".status", "string") }),
  };
}

function selectable(declaration: ResourceDeclaration, path: string): string {
  const { type } = fieldAt(declaration, path, "selectableFields");
  if (type !== "string" && type !== "boolean" && type !== "integer") {
    throw invalidKind(`${declaration.kind}: selectableFields`, `${path} must be a string, a boolean or an integer`);
  }
  return path;
}
