import { SetpointError } from "../errors/error.js";
import { parseLabelSelector } from "../kinds/label-selector.js";
import type { WriteVerb } from "./controller.js";
import { messageOf, shown } from "./outcome.js";

const WRITE_VERBS: readonly unknown[] = [
  ...(["create", "update", "patch", "delete", "status"] satisfies readonly WriteVerb[]),
];

type UncheckedOptions = Readonly<Record<string, unknown>>;

/** Which options are functions, and whether they must be there. */
type ExpectedFunctions = Readonly<Record<string, "needed" | "optional">>;

export function optionalFunctions(...names: readonly string[]): ExpectedFunctions {
  return Object.fromEntries(names.map((name) => [name, "optional"]));
}

/**
 * Throws `CONTROLLER_INVALID` for the declaration of a controller or watcher that cannot be meant. A compiler finds all
 * of it, but not everybody has one: a misspelt `finalize` would leave things behind.
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
  const problem = optionsProblem(options as UncheckedOptions, known, functions);
  if (problem) throw invalid(`${type} ${shown(name)}`, problem);
}

function optionsProblem(
  options: UncheckedOptions,
  known: Readonly<Record<string, true>>,
  functions: ExpectedFunctions,
): string | undefined {
  const stranger = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (stranger !== undefined) return `there is no option ${stranger}; there are ${Object.keys(known).join(", ")}`;
  for (const [name, need] of Object.entries(functions)) {
    const given = options[name];
    if (typeof given === "function" || (given === undefined && need === "optional")) continue;
    return `${name} is ${shown(given)}, no function`;
  }
  return (
    usesProblem("owns", options.owns) ??
    usesProblem("uses", options.uses) ??
    usesProblem("watches", options.watches) ??
    namesProblem("namespaces", options.namespaces) ??
    selectorProblem(options.labelSelector) ??
    verbsProblem("writes", options.writes) ??
    namesProblem("when.changed", (options.when as UncheckedOptions | undefined)?.changed) ??
    retryProblem((options.retry ?? {}) as UncheckedOptions)
  );
}

/** Why this is no kind; undefined for one that is. */
function kindProblem(kind: unknown): string | undefined {
  const { apiVersion, kind: name, plural } = (kind ?? {}) as UncheckedOptions;
  if ([apiVersion, name, plural].every((part) => typeof part === "string")) return undefined;
  const hint = kind === undefined ? "; modules that import each other in a circle leave it so" : "";
  return `${shown(kind)} is no kind such as resource(…) gives${hint}`;
}

function usesProblem(option: string, uses: unknown): string | undefined {
  if (uses === undefined) return undefined;
  if (!Array.isArray(uses)) return `${option} is no list`;
  for (const [at, use] of (uses as readonly unknown[]).entries()) {
    const scope = (use ?? {}) as UncheckedOptions;
    const isScoped = typeof scope.kind === "object";
    const problem =
      kindProblem(isScoped ? scope.kind : use) ??
      (isScoped ? scopeProblem(scope) : undefined) ??
      (option === "watches" && typeof scope.map !== "function" ? "it maps to no keys: use mapped(Kind, …)" : undefined);
    if (problem) return `${option}[${at}]: ${problem}`;
  }
  return undefined;
}

function scopeProblem({ namespaces, labelSelector, writes }: UncheckedOptions): string | undefined {
  return (
    (namespaces === "all" ? undefined : namesProblem("namespaces", namespaces)) ??
    selectorProblem(labelSelector) ??
    verbsProblem("writes", writes)
  );
}

function namesProblem(option: string, names: unknown): string | undefined {
  if (names === undefined) return undefined;
  const isFine = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string" && name);
  return isFine ? undefined : `${option} is ${shown(names)}, no list of names; leave it out for all`;
}

function verbsProblem(option: string, verbs: unknown): string | undefined {
  if (verbs === undefined) return undefined;
  const wrong = Array.isArray(verbs) ? verbs.find((verb) => !WRITE_VERBS.includes(verb)) : verbs;
  return wrong === undefined ? undefined : `${option}: ${shown(wrong)} is none of ${WRITE_VERBS.join(", ")}`;
}

function selectorProblem(selector: unknown): string | undefined {
  if (selector === undefined) return undefined;
  if (typeof selector !== "string") return `labelSelector is ${shown(selector)}, no text such as "app=web"`;
  try {
    parseLabelSelector(selector);
    return undefined;
  } catch (error) {
    return `labelSelector: ${messageOf(error)}`;
  }
}

function retryProblem({ attempts = 0, factor = 2, jitter = 0 }: UncheckedOptions): string | undefined {
  if (!Number.isInteger(attempts) || Number(attempts) < 0) return `retry.attempts is ${shown(attempts)}, not 0 or more`;
  if (!isNumber(factor) || factor < 1) return `retry.factor is ${shown(factor)}, not 1 or more`;
  if (!isNumber(jitter) || jitter < 0) return `retry.jitter is ${shown(jitter)}, not 0 or more`;
  return undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
