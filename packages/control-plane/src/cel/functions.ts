import type { Budget } from "./budget.js";
import { listFunctions } from "./list-functions.js";
import { operators } from "./operators.js";
import { standardFunctions } from "./standard-functions.js";
import { stringFunctions } from "./string-functions.js";
import { CelError, type CelValue } from "./value.js";

/** A function of CEL; undefined where it takes no such arguments. The target of a method is its first argument. */
export type CelFunction = (args: readonly CelValue[], budget: Budget) => CelValue | undefined;

const FUNCTIONS: ReadonlyMap<string, readonly CelFunction[]> = gathered([
  operators,
  standardFunctions,
  stringFunctions,
  listFunctions,
]);
const NAMESPACES: ReadonlySet<string> = new Set(
  [...FUNCTIONS.keys()].flatMap((name) => (name.includes(".") ? [name.slice(0, name.indexOf("."))] : [])),
);

/** Whether functions stand under this name: `sets` in `sets.contains(a, b)`. */
export function isNamespace(name: string): boolean {
  return NAMESPACES.has(name);
}

export function callFunction(name: string, args: readonly CelValue[], budget: Budget): CelValue {
  budget.spend(1);
  const candidates = FUNCTIONS.get(name);
  if (candidates === undefined) throw new CelError(`undeclared reference to '${name}' (in container '')`);
  for (const candidate of candidates) {
    const result = candidate(args, budget);
    if (result !== undefined) return result;
  }
  throw new CelError("no such overload");
}

/** Functions of one name from several libraries stand side by side: strings and lists both have `indexOf`. */
function gathered(libraries: readonly Readonly<Record<string, CelFunction>>[]): Map<string, readonly CelFunction[]> {
  const result = new Map<string, readonly CelFunction[]>();
  for (const library of libraries) {
    for (const [name, implementation] of Object.entries(library)) {
      result.set(name, [...(result.get(name) ?? []), implementation]);
    }
  }
  return result;
}
