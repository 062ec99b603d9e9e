import { SetpointError } from "../errors/error.js";
import type { ResourceDeclaration } from "../kinds/declaration.js";
import type { Kind, Scope } from "../kinds/kind.js";
import { isSameJson } from "../kinds/same-json.js";
import type { StructuralSchema } from "../kinds/schema/structural-schema.js";
import { type AdmissionOperation, type Mutator, operationsOf, type Validator } from "./admission.js";
import { type App, type AppRole, hasConversion } from "./app.js";
import { formProblem } from "./manifest-form.js";
import type { RouteMethod } from "./routes/route.js";

/** Describes an app for those who install it: generated from code by {@link manifestOf}, as JSON or YAML. */
export interface AppManifest {
  readonly apiVersion: "setpoint.dev/v1";
  readonly kind: "AppManifest";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly appName: string;
    readonly appDisplayName?: string;
    readonly group: string;
    readonly preferredVersion?: string;
    readonly versions: readonly ManifestVersion[];
    readonly extraPermissions?: { readonly accessKinds: readonly ManifestAccess[] };
    readonly roles?: Readonly<Record<string, AppRole>>;
    readonly roleBindings?: Readonly<Record<string, readonly string[]>>;
  };
}

export interface ManifestVersion {
  readonly name: string;
  /** Whether any kind of this version is served. */
  readonly served: boolean;
  readonly kinds: readonly ManifestKind[];
  readonly routes?: { readonly namespaced?: readonly ManifestRoute[]; readonly cluster?: readonly ManifestRoute[] };
}

export interface ManifestKind {
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  readonly conversion: boolean;
  readonly schema?: StructuralSchema;
  readonly admission?: {
    readonly validation?: { readonly operations: readonly AdmissionOperation[] };
    readonly mutation?: { readonly operations: readonly AdmissionOperation[] };
  };
  readonly selectableFields?: readonly string[];
  readonly routes?: readonly ManifestRoute[];
}

export interface ManifestRoute {
  readonly method: RouteMethod;
  readonly path: string;
}

/** The access of an app to kinds of other owners. */
export interface ManifestAccess {
  readonly group: string;
  readonly resource: string;
  readonly actions: readonly string[];
}

/** The manifest of an app: deterministic. */
export function manifestOf(app: App): AppManifest {
  const versions = new Map<string, ManifestVersion & { served: boolean; kinds: ManifestKind[] }>();
  for (const kind of app.kinds) {
    const conversion = hasConversion(kind) || app.converters.some((each) => each.kind === kind.kind);
    const own = { declaration: kind.declaration, served: true };
    for (const { declaration, served = true } of [own, ...kind.declaration.versions]) {
      const { version } = declaration;
      const entry = versions.get(version) ?? { name: version, served, kinds: [], ...versionRoutes(app, version) };
      entry.served ||= served;
      entry.kinds.push(manifestKind(app, declaration, conversion));
      versions.set(version, entry);
    }
  }
  const accessKinds = accessOf(app);
  const { name, displayName, group, roles, roleBindings } = app;
  const preferredVersion = app.kinds[0]?.version;
  return {
    apiVersion: "setpoint.dev/v1",
    kind: "AppManifest",
    metadata: { name },
    spec: {
      appName: name,
      ...(displayName === name ? {} : { appDisplayName: displayName }),
      group,
      ...(preferredVersion ? { preferredVersion } : {}),
      versions: [...versions.values()],
      ...(accessKinds.length > 0 ? { extraPermissions: { accessKinds } } : {}),
      ...(Object.keys(roles).length > 0 ? { roles } : {}),
      ...(Object.keys(roleBindings).length > 0 ? { roleBindings } : {}),
    },
  };
}

function manifestKind(app: App, declaration: ResourceDeclaration, conversion: boolean): ManifestKind {
  const { kind, plural, scope, version, schema, options } = declaration;
  const of = (handlers: readonly (Validator | Mutator)[]): readonly AdmissionOperation[] => {
    const own = handlers.filter((each) => each.kind.kind === kind && each.kind.version === version);
    return [...new Set(own.flatMap(operationsOf))].sort();
  };
  const [validation, mutation] = [of(app.validators), of(app.mutators)];
  const admission = {
    ...(validation.length > 0 ? { validation: { operations: validation } } : {}),
    ...(mutation.length > 0 ? { mutation: { operations: mutation } } : {}),
  };
  const routes = app.routes
    .filter((route) => route.plural === plural && route.version === version)
    .map(({ method, path }) => ({ method, path }));
  return {
    kind,
    plural,
    scope,
    conversion,
    schema,
    ...(Object.keys(admission).length > 0 ? { admission } : {}),
    ...(options.selectableFields ? { selectableFields: options.selectableFields } : {}),
    ...(routes.length > 0 ? { routes } : {}),
  };
}

function versionRoutes(app: App, version: string): Pick<ManifestVersion, "routes"> {
  const of = (scope: Scope): readonly ManifestRoute[] =>
    app.routes
      .filter((route) => route.plural === undefined && route.version === version && route.scope === scope)
      .map(({ method, path }) => ({ method, path }));
  const [namespaced, cluster] = [of("Namespaced"), of("Cluster")];
  if (namespaced.length + cluster.length === 0) return {};
  return {
    routes: { ...(namespaced.length > 0 ? { namespaced } : {}), ...(cluster.length > 0 ? { cluster } : {}) },
  };
}

const READ = ["get", "list", "watch"];
const WRITE = [...READ, "create", "update", "patch", "delete"];

function accessOf({ kinds, unmanaged, loops, permissions }: App): readonly ManifestAccess[] {
  const access = new Map<string, ManifestAccess>();
  const allow = (group: string, resource: string, actions: readonly string[]): void => {
    const id = `${group}/${resource}`;
    const known = access.get(id)?.actions ?? [];
    access.set(id, { group, resource, actions: [...new Set([...known, ...actions])] });
  };
  const allowKind = ({ group, plural, kind }: Kind, actions: readonly string[]): void => {
    if (!kinds.some((own) => own.group === group && own.kind === kind)) allow(group, plural, actions);
  };
  for (const kind of unmanaged) allowKind(kind, READ);
  for (const loop of loops) {
    if (loop.type !== "controller") continue;
    const { uses, watches, owns } = loop;
    for (const { kind, writes = [] } of uses) {
      allowKind(kind, [...READ, ...writes.filter((verb) => verb !== "status")]);
      if (writes.includes("status")) allowKind({ ...kind, plural: `${kind.plural}/status` }, ["patch"]);
    }
    for (const { kind } of watches) allowKind(kind, READ);
    for (const { kind } of owns) allowKind(kind, WRITE);
  }
  for (const { apiGroups, resources, verbs } of [...loops.flatMap((each) => each.permissions), ...permissions])
    for (const group of apiGroups) for (const resource of resources) allow(group, resource, verbs);
  return [...access.values()];
}

/** Throws `MANIFEST_INVALID`, which lists all contradictions. */
export function validateManifest(manifest: AppManifest): void {
  const problem = formProblem(manifest);
  if (problem) throw new SetpointError("MANIFEST_INVALID", `manifest: ${problem}`);
  const { metadata, spec } = manifest;
  const problems: string[] = [];
  const first = new Map<string, { readonly version: string; readonly kind: ManifestKind }>();
  for (const version of spec.versions) {
    for (const [at, kind] of version.kinds.entries()) {
      if (version.kinds.findIndex((each) => each.kind === kind.kind) !== at)
        problems.push(`${kind.kind} appears twice in ${version.name}`);
      const known = first.get(kind.kind);
      if (!known) first.set(kind.kind, { version: version.name, kind });
      for (const field of ["plural", "scope", "conversion"] as const) {
        if (!known || known.kind[field] === kind[field]) continue;
        const [here, there] = [kind[field], known.kind[field]];
        problems.push(`${kind.kind}: ${field} is ${here} in ${version.name}, but ${there} in ${known.version}`);
      }
    }
    for (const [scope, routes] of [
      ["Namespaced", version.routes?.namespaced ?? []],
      ["Cluster", version.routes?.cluster ?? []],
    ] as const) {
      for (const { path } of routes) {
        const hidden = version.kinds.find((kind) => kind.scope === scope && kind.plural === path.split("/")[0]);
        if (hidden) problems.push(`${version.name}: route ${path} hides the objects of ${hidden.kind}`);
      }
    }
  }
  for (const [subject, roles] of Object.entries(spec.roleBindings ?? {})) {
    for (const role of roles) {
      if (!Object.hasOwn(spec.roles ?? {}, role))
        problems.push(`${subject} is bound to the role ${role}, which does not exist`);
    }
  }
  if (problems.length === 0) return;
  throw new SetpointError("MANIFEST_INVALID", `manifest of ${metadata.name}: ${problems.join("; ")}`);
}

/** Throws `MANIFEST_MISMATCH`, which lists every difference between manifest and code. */
export function checkManifest(app: App, manifest: AppManifest): void {
  validateManifest(manifest);
  const [code, stated] = [facts(manifestOf(app)), facts(manifest)];
  const problems = [...new Set([...code.keys(), ...stated.keys()])].flatMap((id) => {
    if (isSameJson(code.get(id), stated.get(id))) return [];
    return [`${id} is ${shown(stated.get(id))} in the manifest, but ${shown(code.get(id))} in code`];
  });
  if (problems.length === 0) return;
  throw new SetpointError("MANIFEST_MISMATCH", `app ${app.name}: ${problems.join("; ")}`);
}

/** The statements of a manifest, one by one, so that messages can name differences. A missing value equals an empty one. */
function facts({ spec }: AppManifest): ReadonlyMap<string, unknown> {
  const all = new Map<string, unknown>([
    ["appName", spec.appName],
    ["group", spec.group],
  ]);
  const add = (id: string, value: unknown): void => {
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) all.set(id, JSON.parse(JSON.stringify(value)));
  };
  const sorted = (routes: readonly ManifestRoute[] = []): readonly string[] =>
    routes.map(({ method, path }) => `${method} ${path}`).sort();
  for (const version of spec.versions) {
    add(`${version.name}: served`, version.served);
    add(`${version.name}: namespaced routes`, sorted(version.routes?.namespaced));
    add(`${version.name}: cluster routes`, sorted(version.routes?.cluster));
    for (const { kind, routes, admission, schema, ...rest } of version.kinds) {
      const id = `${version.name}/${kind}`;
      add(`${id}: plural`, rest.plural);
      add(`${id}: scope`, rest.scope);
      add(`${id}: conversion`, rest.conversion);
      add(`${id}: validation`, [...(admission?.validation?.operations ?? [])].sort());
      add(`${id}: mutation`, [...(admission?.mutation?.operations ?? [])].sort());
      add(`${id}: selectableFields`, rest.selectableFields);
      add(`${id}: routes`, sorted(routes));
      add(`${id}: schema`, schema);
    }
  }
  for (const { group, resource, actions } of spec.extraPermissions?.accessKinds ?? []) {
    add(`access to ${group}/${resource}`, [...actions].sort());
  }
  add("appDisplayName", spec.appDisplayName);
  add("preferredVersion", spec.preferredVersion);
  for (const [name, role] of Object.entries(spec.roles ?? {})) add(`role ${name}`, role);
  for (const [subject, roles] of Object.entries(spec.roleBindings ?? {})) add(`roles of ${subject}`, [...roles].sort());
  return all;
}

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > 80 ? "another" : text;
}
