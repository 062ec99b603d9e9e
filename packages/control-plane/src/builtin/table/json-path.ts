import { perText } from "../../api/memoized.js";

/**
 * The JSONPath of printer columns: names, indexes, wildcards, and filters that compare a field with a constant
 * (`.status.conditions[?(@.type=="Ready")].status`). An unsupported path finds nothing, as in kube-apiserver.
 */
export type JsonPath = readonly Step[];

type Step =
  | { readonly type: "field"; readonly name: string }
  | { readonly type: "index"; readonly index: number }
  | { readonly type: "slice"; readonly start: number | undefined; readonly end: number | undefined }
  | { readonly type: "all" }
  | { readonly type: "descendants"; readonly name: string }
  | { readonly type: "filter"; readonly path: JsonPath; readonly operator: string; readonly value: unknown };

const MAX_REMEMBERED = 1000;
const parsed = perText(MAX_REMEMBERED, parse);

/** Every value at the path. */
export function findAll(value: unknown, path: string): readonly unknown[] {
  const steps = parsed(path);
  return steps === undefined ? [] : walk([value], steps);
}

/** The first value at the path. */
export function valueAt(value: unknown, path: string): unknown {
  return findAll(value, path)[0];
}

function parse(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  let rest = text.replace(/^\{(.*)\}$/s, "$1").replace(/^[$@]/, "");
  if (!rest.startsWith(".") && !rest.startsWith("[")) rest = `.${rest}`;
  while (rest !== "" && rest !== ".") {
    const step = parseStep(rest);
    if (step === undefined) return undefined;
    steps.push(step.step);
    rest = rest.slice(step.length);
  }
  return steps;
}

function parseStep(rest: string): { readonly step: Step; readonly length: number } | undefined {
  const descendants = /^\.\.([^.[\]]+)/.exec(rest);
  if (descendants) return { step: { type: "descendants", name: descendants[1]! }, length: descendants[0].length };
  const wildcard = /^(?:\.\*|\[\*\])/.exec(rest);
  if (wildcard) return { step: { type: "all" }, length: wildcard[0].length };
  const field = /^\.((?:\\.|[^.[\]\\])+)/.exec(rest);
  if (field) return { step: { type: "field", name: field[1]!.replace(/\\(.)/g, "$1") }, length: field[0].length };
  const quoted = /^\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/.exec(rest);
  if (quoted) {
    const name = (quoted[1] ?? quoted[2] ?? "").replace(/\\(.)/g, "$1");
    return { step: { type: "field", name }, length: quoted[0].length };
  }
  const index = /^\[(-?\d+)\]/.exec(rest);
  if (index) return { step: { type: "index", index: Number(index[1]) }, length: index[0].length };
  const slice = /^\[(-?\d*):(-?\d*)\]/.exec(rest);
  if (slice) {
    const bound = (digits: string | undefined): number | undefined => (digits ? Number(digits) : undefined);
    return { step: { type: "slice", start: bound(slice[1]), end: bound(slice[2]) }, length: slice[0].length };
  }
  return parseFilter(rest);
}

function parseFilter(rest: string): { readonly step: Step; readonly length: number } | undefined {
  const match =
    /^\[\?\(\s*(@[^=!<>\s)]*)\s*(?:(==|!=|<=|>=|<|>)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s)]+)\s*)?\)\]/.exec(
      rest,
    );
  if (match === null) return undefined;
  const path = parse(match[1]!);
  if (path === undefined) return undefined;
  const operator = match[2] ?? "exists";
  return { step: { type: "filter", path, operator, value: constant(match[3]) }, length: match[0].length };
}

function constant(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  if (/^["']/.test(text)) return text.slice(1, -1).replace(/\\(.)/g, "$1");
  if (text === "true" || text === "false") return text === "true";
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function walk(values: readonly unknown[], steps: JsonPath): readonly unknown[] {
  let found = values;
  for (const step of steps) found = found.flatMap((value) => take(value, step));
  return found;
}

function take(value: unknown, step: Step): readonly unknown[] {
  switch (step.type) {
    case "field":
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "index": {
      const item = Array.isArray(value) ? (value.at(step.index) as unknown) : undefined;
      return item === undefined ? [] : [item];
    }
    case "slice":
      return Array.isArray(value) ? (value.slice(step.start ?? 0, step.end) as unknown[]) : [];
    case "all":
      if (Array.isArray(value)) return value as unknown[];
      return isRecord(value) ? Object.values(value) : [];
    case "descendants":
      return descendants(value, step.name);
    case "filter":
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function descendants(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const own = !Array.isArray(value) && Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
  return [...own, ...Object.values(value).flatMap((part: unknown) => descendants(part, name))];
}

function passes(item: unknown, { path, operator, value }: Extract<Step, { type: "filter" }>): boolean {
  const [found] = walk([item], path);
  switch (operator) {
    case "exists":
      return found !== undefined;
    case "==":
      return found === value;
    case "!=":
      return found !== value;
    default:
      return compare(found, value, operator);
  }
}

function compare(found: unknown, value: unknown, operator: string): boolean {
  if (typeof found !== typeof value || (typeof found !== "number" && typeof found !== "string")) return false;
  const [left, right] = [found, value as typeof found];
  if (operator === "<") return left < right;
  if (operator === ">") return left > right;
  return operator === "<=" ? left <= right : left >= right;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
