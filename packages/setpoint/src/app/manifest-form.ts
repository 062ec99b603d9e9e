/** The form of a part of a manifest. A field whose name ends in `?` is optional; `*` stands for fields of any name. */
type Form = "text" | "flag" | "anything" | readonly [Form] | { readonly [field: string]: Form };

const ROUTES: Form = [{ method: "text", path: "text" }];
const OPERATIONS: Form = { operations: ["text"] };

const KIND: Form = {
  kind: "text",
  plural: "text",
  scope: "text",
  conversion: "flag",
  "schema?": "anything",
  "admission?": { "validation?": OPERATIONS, "mutation?": OPERATIONS },
  "selectableFields?": ["text"],
  "routes?": ROUTES,
};

const VERSIONS: Form = [
  { kinds: [KIND], name: "text", served: "flag", "routes?": { "namespaced?": ROUTES, "cluster?": ROUTES } },
];

const SPEC: Form = {
  appName: "text",
  "appDisplayName?": "text",
  group: "text",
  "preferredVersion?": "text",
  "extraPermissions?": { accessKinds: [{ group: "text", resource: "text", actions: ["text"] }] },
  "roles?": { "*": { "title?": "text", kinds: [{ kind: "text", verbs: ["text"] }] } },
  "roleBindings?": { "*": ["text"] },
};

/** The first part of a manifest that has the wrong form. */
export function formProblem(manifest: unknown): string | undefined {
  const { kind, apiVersion, metadata, spec } = recordOf(manifest);
  if (kind !== "AppManifest") return `kind is ${JSON.stringify(kind)}, not "AppManifest"`;
  const problem =
    problemOf(recordOf(spec).versions, VERSIONS, "spec.versions") ??
    problemOf(recordOf(metadata).name, "text", "metadata.name");
  if (problem) return problem;
  if (apiVersion !== "setpoint.dev/v1") return `apiVersion is ${JSON.stringify(apiVersion)}, not "setpoint.dev/v1"`;
  return problemOf(spec, SPEC, "spec");
}

function problemOf(value: unknown, form: Form, path: string): string | undefined {
  if (form === "anything") return undefined;
  if (form === "text" && value === undefined) return `${path} is missing`;
  if (form === "text") return typeof value === "string" ? undefined : `${path} is not a text`;
  if (form === "flag") return typeof value === "boolean" ? undefined : `${path} is neither true nor false`;
  if (isList(form)) {
    if (!Array.isArray(value)) return `${path} is not a list`;
    return firstOf(value.map((each, at) => () => problemOf(each, form[0], `${path}[${at}]`)));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} is not an object`;
  const fields = value as Readonly<Record<string, unknown>>;
  return firstOf(
    Object.entries(form).flatMap(([field, each]) => {
      const names = field === "*" ? Object.keys(fields) : [field.replace(/\?$/, "")];
      const given = names.filter((name) => !field.endsWith("?") || fields[name] !== undefined);
      return given.map((name) => () => problemOf(fields[name], each, `${path}.${name}`));
    }),
  );
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem) return problem;
  }
  return undefined;
}

function isList(form: Form): form is readonly [Form] {
  return Array.isArray(form);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
