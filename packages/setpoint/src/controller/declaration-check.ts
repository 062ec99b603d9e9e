import { SetpointError } from "../errors/error.js";
import { type Kind, kindId } from "../kinds/kind.js";
import { parseLabelSelector } from "../kinds/selector/label-selector.js";
import { unknownOptions } from "../kinds/unknown-options.js";
import { messageOf, shown } from "../loop/outcome.js";
import { isCautious, type WatchDeclaration, type WriteVerb } from "./controller.js";

const WRITE_VERBS: readonly unknown[] = [
  ...(["create", "update", "patch", "delete", "status"] satisfies readonly WriteVerb[]),
];

/** The options of a scoped kind and of a watch. */
const SCOPE_OPTIONS: readonly (keyof WatchDeclaration)[] = [
  ...(["kind", "namespaces", "labelSelector", "fieldSelector", "cluster", "writes", "indexes", "map", "when"] as const),
];

type UncheckedOptions = Readonly<Record<string, unknown>>;

/** Which options are functions, and whether they are required. */
type ExpectedFunctions = Readonly<Record<string, "needed" | "optional">>;

export function optionalFunctions(...names: readonly string[]): ExpectedFunctions {
  return Object.fromEntries(names.map((name) => [name, "optional"]));
}

/**
 * Throws `CONTROLLER_INVALID` for an invalid declaration of a controller or watcher. The compiler finds these too, but
 * users of plain JavaScript have none: a misspelt `finalize` would leave things behind.
 */
export function checkDeclaration(
  type: "controller" | "watcher",
  kind: unknown,
  options: object,
  known: Readonly<Record<string, true>>,
  functions: ExpectedFunctions,
): void {
  const invalid = (place: string, problem: string): SetpointError =>
    new SetpointError("CONTROLLER_INVALID", `${place}: ${problem}`);
  const noKind = kindProblem(kind);
  if (noKind) throw invalid(type, noKind);
  if (typeof options !== "object" || options === null) throw invalid(type, `its options are ${shown(options)}`);
  const { name = (kind as UncheckedOptions).plural } = options as UncheckedOptions;
  const problem = optionsProblem(type, options as UncheckedOptions, known, functions);
  if (problem) throw invalid(`${type} ${shown(name)}`, problem);
}

function optionsProblem(
  type: "controller" | "watcher",
  options: UncheckedOptions,
  known: Readonly<Record<string, true>>,
  functions: ExpectedFunctions,
): string | undefined {
  const [unknown] = unknownOptions(options, Object.keys(known));
  if (unknown) return unknown;
  for (const [name, need] of Object.entries(functions)) {
    const given = options[name];
    if (typeof given === "function" || (given === undefined && need === "optional")) continue;
    return `${name} is ${shown(given)}, not a function`;
  }
  return (
    usesProblem("owns", options.owns) ??
    usesProblem("uses", options.uses) ??
    usesProblem("watches", options.watches, Array.isArray(options.namespaces) ? options.namespaces : undefined) ??
    triggersProblem(options.triggers) ??
    namespacesProblem(type, options.namespaces) ??
    selectorProblem(options.labelSelector) ??
    verbsProblem("writes", options.writes) ??
    whenProblem((options.when ?? {}) as UncheckedOptions) ??
    retryProblem((options.retry ?? {}) as UncheckedOptions)
  );
}

/** Why this is not a kind; undefined for a kind. */
function kindProblem(kind: unknown): string | undefined {
  const { apiVersion, kind: name, plural } = (kind ?? {}) as UncheckedOptions;
  if ([apiVersion, name, plural].every((part) => typeof part === "string")) return undefined;
  const hint = kind === undefined ? "; a circular import can cause this" : "";
  return `${shown(kind)} is not a kind as resource(…) returns it${hint}`;
}

function usesProblem(option: string, uses: unknown, namespaces?: unknown): string | undefined {
  if (uses === undefined) return undefined;
  if (!Array.isArray(uses)) return `${option} is not a list`;
  for (const [at, use] of (uses as readonly unknown[]).entries()) {
    const scope = (use ?? {}) as UncheckedOptions;
    const isScoped = typeof scope.kind === "object";
    const problem =
      kindProblem(isScoped ? scope.kind : use) ??
      (isScoped ? scopeProblem(scope) : undefined) ??
      (option === "watches" ? watchProblem(scope, namespaces) : undefined);
    if (problem) return `${option}[${at}]: ${problem}`;
  }
  return undefined;
}

/** Why a scope would never deliver anything, or no keys. `namespaces` are the controller's. */
function watchProblem(watch: UncheckedOptions, namespaces: unknown): string | undefined {
  if (typeof watch.map !== "function") return "it has no mapping to keys: use mapped(Kind, …)";
  if (watch.namespaces === undefined && namespaces === undefined && isCautious(watch.kind as Kind))
    return `${kindId(watch.kind as Kind)} needs a scope: namespaces: "all" to cache the whole cluster, or a list of namespaces`;
  return whenProblem((watch.when ?? {}) as UncheckedOptions);
}

function triggersProblem(triggers: unknown): string | undefined {
  if (triggers === undefined) return undefined;
  if (!Array.isArray(triggers)) return "triggers is not a list";
  const isTrigger = (trigger: unknown): boolean => {
    const { name, start } = (trigger ?? {}) as UncheckedOptions;
    return typeof name === "string" && typeof start === "function";
  };
  const wrong = triggers.findIndex((trigger) => !isTrigger(trigger));
  if (wrong < 0) return undefined;
  return `triggers[${wrong}]: ${shown(triggers[wrong])} is not a trigger: use every(…), or an object with name and start`;
}

function whenProblem(when: UncheckedOptions): string | undefined {
  const { changed, matches } = when;
  const [unknown] = unknownOptions(when, ["changed", "matches"]);
  if (unknown) return `when: ${unknown}`;
  if (matches !== undefined && typeof matches !== "function")
    return `when.matches is ${shown(matches)}, not a function`;
  return namesProblem("when.changed", changed);
}

function scopeProblem(scope: UncheckedOptions): string | undefined {
  const { namespaces, labelSelector, writes } = scope;
  return (
    unknownOptions(scope, SCOPE_OPTIONS)[0] ??
    (namespaces === "all" ? undefined : namesProblem("namespaces", namespaces)) ??
    selectorProblem(labelSelector) ??
    verbsProblem("writes", writes)
  );
}

/** Watchers take no labels: of a namespace that loses them they would see no delete. */
function namespacesProblem(type: "controller" | "watcher", namespaces: unknown): string | undefined {
  if (namespaces === undefined || namespaces === "all") return undefined;
  if (type === "watcher" || Array.isArray(namespaces)) return namesProblem("namespaces", namespaces);
  const isSelector = typeof namespaces === "object" && namespaces !== null && "labelSelector" in namespaces;
  if (!isSelector || namespaces.labelSelector === undefined)
    return `namespaces is ${shown(namespaces)}; expected "all", a list of names or { labelSelector }`;
  const [unknown] = unknownOptions(namespaces, ["labelSelector"]);
  const problem = unknown ?? selectorProblem(namespaces.labelSelector);
  return problem && `namespaces: ${problem}`;
}

function namesProblem(option: string, names: unknown): string | undefined {
  if (names === undefined) return undefined;
  const isFine = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string" && name);
  return isFine ? undefined : `${option} is ${shown(names)}, not a list of names; write "all" for all`;
}

function verbsProblem(option: string, verbs: unknown): string | undefined {
  if (verbs === undefined) return undefined;
  const wrong = Array.isArray(verbs) ? verbs.find((verb) => !WRITE_VERBS.includes(verb)) : verbs;
  return wrong === undefined ? undefined : `${option}: ${shown(wrong)} is not one of ${WRITE_VERBS.join(", ")}`;
}

function selectorProblem(selector: unknown): string | undefined {
  if (selector === undefined) return undefined;
  if (typeof selector !== "string") return `labelSelector is ${shown(selector)}, not a string such as "app=web"`;
  try {
    parseLabelSelector(selector);
    return undefined;
  } catch (error) {
    return `labelSelector: ${messageOf(error)}`;
  }
}

function retryProblem(retry: UncheckedOptions): string | undefined {
  const { attempts = 0, factor = 2, jitter = 0 } = retry;
  const [unknown] = unknownOptions(retry, ["initial", "max", "factor", "jitter", "attempts"]);
  if (unknown) return `retry: ${unknown}`;
  if (!Number.isInteger(attempts) || Number(attempts) < 0) return `retry.attempts is ${shown(attempts)}, not 0 or more`;
  if (!isNumber(factor) || factor < 1) return `retry.factor is ${shown(factor)}, not 1 or more`;
  if (!isNumber(jitter) || jitter < 0) return `retry.jitter is ${shown(jitter)}, not 0 or more`;
  return undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
