import type { Loop } from "../controller/loop.js";
import type { MetricSource } from "../controller/metric-source.js";
import type { RbacRule } from "../controller/rbac-rule.js";
import { SetpointError } from "../errors/error.js";
import { type Kind, kindId } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { Resource } from "../kinds/resource.js";
import { handlerProblems, type Mutator, operationsOf, type Validator } from "./admission.js";
import { checkAppOptions } from "./app-options.js";
import type { HealthCheck } from "./health-check.js";
import { refinementValidator, warnOfUnchecked } from "./refinements.js";
import { handledProblems, type Route, routeId } from "./routes/route.js";
import type { Runnable } from "./runnable-group.js";
import type { Converter } from "./webhooks/conversion-review.js";

// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
type AnyResource = Resource<any>;

/** What a role may do with the kinds of an app. */
export interface AppRole {
  readonly title?: string;
  readonly kinds: readonly { readonly kind: string; readonly verbs: readonly string[] }[];
}

/** A kind that an app no longer handles, and the finalizer that it set on the objects. */
export interface GivenUpKind {
  readonly kind: Kind;
  readonly finalizer: string;
}

export interface AppOptions {
  /** Names its webhooks, manifest and logs: lower-case letters, digits and dashes. */
  readonly name: string;
  readonly displayName?: string;
  /** The kinds that are this app's own, all of one group. */
  readonly kinds: readonly AnyResource[];
  /** Kinds of other owners that the app watches or admits. */
  readonly unmanaged?: readonly Kind[];
  /** Its controllers and watchers. */
  readonly loops?: readonly Loop[];
  readonly validate?: readonly Validator[];
  readonly mutate?: readonly Mutator[];
  /** Converters for CRDs that the app does not install. Kinds whose versions define `up` and `down` need none. */
  readonly convert?: readonly Converter[];
  readonly routes?: readonly Route[];
  /**
   * Kinds whose objects had a finalizer of this app that it no longer uses: at start it removes the finalizer from all
   * objects.
   */
  readonly givenUp?: readonly GivenUpKind[];
  /** Other work that it does while it leads. */
  readonly runnables?: readonly Runnable[];
  /** Counters and gauges of its own. */
  readonly metrics?: readonly MetricSource[];
  /** Conditions for its work; `/readyz` shows them. */
  readonly checks?: readonly HealthCheck[];
  /** The permissions of its routes, runnables and webhooks beyond those of its loops, for RBAC. */
  readonly permissions?: readonly RbacRule[];
  readonly roles?: Readonly<Record<string, AppRole>>;
  /** The roles of each group of users. */
  readonly roleBindings?: Readonly<Record<string, readonly string[]>>;
}

/** A declared app: plain data, checked. `run` or a manager starts it. */
export interface App {
  readonly type: "app";
  readonly name: string;
  readonly displayName: string;
  readonly group: string;
  readonly kinds: readonly AnyResource[];
  readonly unmanaged: readonly Kind[];
  readonly loops: readonly Loop[];
  readonly validators: readonly Validator[];
  readonly mutators: readonly Mutator[];
  readonly converters: readonly Converter[];
  readonly routes: readonly Route[];
  readonly givenUp: readonly GivenUpKind[];
  readonly runnables: readonly Runnable[];
  readonly metrics: readonly MetricSource[];
  readonly checks: readonly HealthCheck[];
  readonly permissions: readonly RbacRule[];
  readonly roles: Readonly<Record<string, AppRole>>;
  readonly roleBindings: Readonly<Record<string, readonly string[]>>;
}

/**
 * Declares an app: kinds and all that is done about them. Throws `APP_INVALID`, which lists everything that is wrong.
 *
 * ```ts
 * const shop = app({
 *   name: "shop",
 *   kinds: [Order],
 *   loops: [orders],
 *   validate: [validating(Order, { create: checkStock })],
 *   routes: [kindRoute(Order, { path: "total", handle: addUp })],
 * });
 * await run(shop);
 * ```
 */
export function app(options: AppOptions): App {
  checkAppOptions(options);
  const { kinds, validate = [], mutate = [], convert = [] } = options;
  const converters = [...kinds.filter(hasConversion).map(converterOf), ...convert];
  const hasAdmission = validate.length + mutate.length + converters.length > 0;
  const made: App = {
    type: "app",
    name: options.name,
    displayName: options.displayName ?? options.name,
    group: kinds[0]?.group ?? "",
    kinds,
    unmanaged: options.unmanaged ?? [],
    loops: options.loops ?? [],
    validators: hasAdmission ? withRefinements(validate, kinds) : validate,
    mutators: mutate,
    converters,
    routes: options.routes ?? [],
    givenUp: options.givenUp ?? [],
    runnables: options.runnables ?? [],
    metrics: options.metrics ?? [],
    checks: options.checks ?? [],
    permissions: options.permissions ?? [],
    roles: options.roles ?? {},
    roleBindings: options.roleBindings ?? {},
  };
  const problems = [
    ...nameProblems(made),
    ...loopProblems(made),
    ...admissionProblems(made, convert),
    ...routeProblems(made),
  ];
  if (problems.length > 0) throw new SetpointError("APP_INVALID", `app ${options.name}: ${problems.join("; ")}`);
  if (!hasAdmission) for (const kind of kinds) warnOfUnchecked(`app ${options.name}`, kind);
  for (const warning of scaleWarnings(made)) process.emitWarning(warning, { code: "SETPOINT_SCALE_UNCHECKED" });
  return made;
}

/** With what checks the refinements of kinds; a validator without a function stands for that, and has its settings. */
function withRefinements(validators: readonly Validator[], kinds: readonly AnyResource[]): readonly Validator[] {
  const refined = kinds.filter(({ declaration }) => declaration.refinements);
  const isBare = (each: Validator): boolean =>
    operationsOf(each).length === 0 && refined.some((kind) => isSameKind(kind, each.kind));
  const made = refined.map((kind) => {
    const bare = validators.find((each) => isBare(each) && isSameKind(kind, each.kind));
    return refinementValidator(kind, bare?.options);
  });
  return [...validators.filter((each) => !isBare(each)), ...made];
}

/** Validators that `kubectl scale` and autoscalers pass by: a write to `scale` is not one to the object. */
function scaleWarnings({ name, kinds, validators }: App): readonly string[] {
  const scaled = kinds.filter(({ declaration }) => declaration.options.scale !== undefined);
  return validators
    .filter(({ kind, options }) => scaled.some((each) => isSameKind(each, kind)) && isScaleUnstated(options))
    .map(({ kind }) => {
      const cure = 'write subresources: ["scale"] to validate the Scale, or [] to leave it unchecked';
      return `app ${name}: the validator of ${kindId(kind)} does not see kubectl scale and autoscalers: ${cure}`;
    });
}

function isScaleUnstated({ update, subresources }: Validator["options"]): boolean {
  return update !== undefined && subresources === undefined;
}

function isSameKind(a: Kind, b: Kind): boolean {
  return a.group === b.group && a.kind === b.kind;
}

/** Whether an API server or a user calls it, so that the process needs a server. */
export function isServed({ validators, mutators, converters, routes }: App): boolean {
  return validators.length + mutators.length + converters.length + routes.length > 0;
}

/** Whether the versions of a kind need more than another apiVersion. */
export function hasConversion({ declaration }: Resource): boolean {
  return declaration.versions.some(({ up }) => up !== undefined);
}

/** All versions of a kind, its own first. */
export function versionsOf({ declaration }: Resource): readonly string[] {
  return [declaration.version, ...declaration.versions.map((older) => older.declaration.version)];
}

function converterOf(kind: Resource): Converter {
  return {
    group: kind.group,
    kind: kind.kind,
    convert: (object: KubeObject, apiVersion: string) => kind.convert(object, apiVersion),
  };
}

function nameProblems({ name, kinds, group }: App): readonly string[] {
  const problems: string[] = [];
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name ?? ""))
    problems.push("its name must be lower-case letters, digits and dashes");
  for (const kind of kinds) {
    if (kind.group !== group) problems.push(`${kindId(kind)} is not of the group ${group}: move it to another app`);
  }
  const plurals = kinds.flatMap((kind) => versionsOf(kind).map((version) => `${version} ${kind.plural}`));
  for (const twice of duplicates(plurals)) problems.push(`two kinds have the plural ${twice}`);
  return problems;
}

function loopProblems(app: App): readonly string[] {
  const problems: string[] = [];
  for (const { type, name, kind } of app.loops) {
    if (!knows(app, kind))
      problems.push(`${type} ${name} is of ${kindId(kind)}, which is in neither kinds nor unmanaged`);
  }
  const runnables = app.runnables.map(({ name }) => `runnable ${name}`);
  for (const twice of duplicates([...app.loops.map(({ type, name }) => `${type} ${name}`), ...runnables])) {
    problems.push(`there are two of ${twice}: give one another name`);
  }
  return problems;
}

function admissionProblems(app: App, own: readonly Converter[]): readonly string[] {
  const problems: string[] = [];
  for (const handler of [...app.validators, ...app.mutators]) {
    const id = `${handler.type} of ${kindId(handler.kind)}`;
    if (!knows(app, handler.kind)) problems.push(`the ${id} is of a kind in neither kinds nor unmanaged`);
    if (operationsOf(handler).length === 0) problems.push(`the ${id} has no function`);
    problems.push(...handlerProblems(handler).map((problem) => `the ${id}: ${problem}`));
  }
  for (const { group, kind } of own) {
    if (app.kinds.some((each) => each.group === group && each.kind === kind))
      problems.push(
        `the converter of ${group}/${kind} is of a kind declared here: convert it with withVersion(…, { up, down })`,
      );
  }
  for (const twice of duplicates(app.converters.map(({ group, kind }) => `${group}/${kind}`))) {
    problems.push(`two converters for ${twice}`);
  }
  return problems;
}

function routeProblems({ kinds, routes }: App): readonly string[] {
  const problems: string[] = [];
  for (const route of routes) {
    const id = `route ${routeId(route)}`;
    problems.push(...handledProblems(route).map((problem) => `${id}: ${problem}`));
    if (!/^[^/]+(\/[^/]+)*$/.test(route.path)) problems.push(`${id}: its path must be names separated by slashes`);
    const isOwn = kinds.some(
      (kind) =>
        kind.group === route.group &&
        versionsOf(kind).includes(route.version) &&
        (route.plural === undefined || kind.plural === route.plural),
    );
    if (!isOwn) problems.push(`${id}: none of its kinds has that version`);
    // The server looks in that namespace for whatever follows /namespaces/NAME/.
    if (route.scope === "Cluster" && (route.plural ?? route.path.split("/")[0]) === "namespaces")
      problems.push(`${id}: no request reaches it, because /namespaces/ begins the paths of namespaced routes`);
    const clash = kinds.find(({ plural, scope }) => plural === route.path.split("/")[0] && scope === route.scope);
    if (route.plural === undefined && clash) problems.push(`${id}: hides the objects of ${kindId(clash)}`);
  }
  for (const twice of duplicates(routes.map(routeId))) problems.push(`two routes are ${twice}`);
  return problems;
}

function knows({ kinds, unmanaged }: App, kind: Kind): boolean {
  if (unmanaged.some((each) => kindId(each) === kindId(kind))) return true;
  return kinds.some(
    (each) => each.group === kind.group && each.kind === kind.kind && versionsOf(each).includes(kind.version),
  );
}

function duplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}
