import { SetpointError } from "../errors/error.js";
import { unknownOptions } from "../kinds/unknown-options.js";
import { shown } from "../loop/outcome.js";
import type { AppOptions } from "./app.js";

/** The `type` that the entries of each option must have; `list` for lists without a type. */
const OPTIONS = {
  name: "value",
  displayName: "value",
  kinds: "list",
  unmanaged: "list",
  loops: "loop",
  validate: "validator",
  mutate: "mutator",
  convert: "list",
  routes: "route",
  givenUp: "list",
  runnables: "list",
  metrics: "list",
  checks: "list",
  permissions: "list",
  roles: "value",
  roleBindings: "value",
} as const satisfies Record<keyof AppOptions, string>;

const MAKERS: Readonly<Record<string, string>> = {
  loop: "controller(…) or watcher(…)",
  validator: "validating(…)",
  mutator: "mutating(…)",
  route: "kindRoute(…) or versionRoute(…)",
};

/**
 * Throws `APP_INVALID` for options that have the wrong form. The compiler finds these too, but users of plain
 * JavaScript have none: with a misspelt `validate`, objects would go unchecked.
 */
export function checkAppOptions(options: AppOptions): void {
  if (typeof options !== "object" || options === null)
    throw new SetpointError("APP_INVALID", `app: its options are ${shown(options)}`);
  const invalid = (problem: string): SetpointError =>
    new SetpointError("APP_INVALID", `app ${shown(options.name)}: ${problem}`);
  const [unknown] = unknownOptions(options, Object.keys(OPTIONS));
  if (unknown !== undefined) throw invalid(unknown);
  if (!Array.isArray(options.kinds)) throw invalid("kinds is not a list; write [] for none");
  for (const [option, entry] of Object.entries(OPTIONS)) {
    const given = options[option as keyof AppOptions];
    if (entry === "value" || given === undefined) continue;
    if (!Array.isArray(given)) throw invalid(`${option} is not a list`);
    const wrong = given.findIndex((each) => !isEntry(each, entry));
    if (wrong >= 0) throw invalid(`${option}[${wrong}] is ${named(given[wrong])}, no ${MAKERS[entry] ?? "entry"}`);
  }
}

function isEntry(given: unknown, entry: string): boolean {
  if (typeof given !== "object" || given === null) return false;
  if (entry === "list") return true;
  if (entry === "route") return "scope" in given && "path" in given;
  const { type } = given as { type?: unknown };
  return entry === "loop" ? type === "controller" || type === "watcher" : type === entry;
}

/** `watcher orders`, `mutator of Order`; anything else unchanged. */
function named(given: unknown): string {
  const { type, name, kind } = (given ?? {}) as { type?: unknown; name?: unknown; kind?: { kind?: unknown } };
  if (typeof type !== "string") return shown(given);
  return typeof name === "string" ? `${type} ${name}` : `${type} of ${String(kind?.kind)}`;
}
