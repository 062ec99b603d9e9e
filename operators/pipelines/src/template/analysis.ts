import { type RenderedTemplate, renderTemplate } from "./render.js";
import { projectFunctions, rootOf } from "./render-text.js";
import { type Operand, type Pipe, type Template, TemplateError, type TemplateNode } from "./template.js";
import { isTrue, type TemplateFunction, UNKNOWN } from "./value.js";

/** Placeholder in SQL for a value that only a run knows. */
export const UNKNOWN_NAME = "__unknown__";

/** A text that the template can become. */
export interface TemplateVariant {
  /**
   * The text with a name for each value that only a run knows, then with a number, then with nothing. Only one text if
   * all values are known.
   */
  readonly texts: readonly RenderedTemplate[];
  /** Whether a run in this environment, with these variables, can have this text. */
  readonly isActual: boolean;
  /** Expressions whose value only a run knows, and conditions that depend on them. */
  readonly unknowns: readonly string[];
}

export interface TemplateRef {
  readonly name: string;
  readonly kind?: string;
  readonly offset: number;
}

export interface TemplateAnalysis {
  readonly refs: readonly TemplateRef[];
  /** Names of the variables that it uses. */
  readonly variables: readonly string[];
  /** Arguments of each call of `configure`. */
  readonly configured: readonly { readonly values: readonly unknown[]; readonly offset: number }[];
  readonly variants: readonly TemplateVariant[];
}

export interface KnownData {
  readonly environment: string;
  readonly variables: Readonly<Record<string, string>>;
}

const MOST_VARIANTS = 32;

/**
 * Finds the refs of a template and the texts that it can become: with both outcomes of each unknown condition, in the
 * environments `dev`, `prod` and the given one, incremental or not. Throws a `TemplateError` if it cannot be rendered
 * for the given environment.
 */
export function analyzed(template: Template, known: KnownData): TemplateAnalysis {
  const facts = factsOf(template);
  if (!facts.isTemplate) {
    const text: RenderedTemplate = { text: template.text, sourceOf: (offset) => offset };
    return { refs: [], variables: [], configured: [], variants: [{ texts: [text], isActual: true, unknowns: [] }] };
  }
  const refs = [...facts.refs];
  const seen = new Set<string>();
  const variants: TemplateVariant[] = [];
  const add = (variant: TemplateVariant) => {
    const { text } = variant.texts[0]!;
    const key = variant.isActual ? JSON.stringify([text, variant.unknowns]) : text;
    if (seen.has(key) || variants.length >= 4 * MOST_VARIANTS) return;
    seen.add(key).add(text);
    variants.push(variant);
  };
  const incrementals = facts.functions.has("incremental") ? [false, true] : [false];
  const explorer = { template, refs };
  for (const incremental of incrementals) explore(explorer, { ...known, incremental }, true, add);
  const environments = facts.functions.has("dev") || facts.functions.has("prod") ? ["dev", "prod", ""] : [];
  for (const environment of new Set([known.environment, ...environments]))
    for (const incremental of incrementals) explore(explorer, { ...known, environment, incremental }, false, add);
  return { refs: uniqueRefs(refs), variables: [...facts.variables].sort(), configured: facts.configured, variants };
}

interface Explorer {
  readonly template: Template;
  readonly refs: TemplateRef[];
}

/** Renders with every combination of the open conditions. Beyond a limit it tries each condition both ways instead. */
function explore(
  { template, refs }: Explorer,
  data: KnownData & { readonly incremental: boolean },
  isActual: boolean,
  add: (variant: TemplateVariant) => void,
): void {
  const tried = new Set<string>();
  let succeeded = false;
  let failure: TemplateError | undefined;
  const attempt = (decisions: ReadonlyMap<string, boolean>, otherwise: boolean): ReadonlyMap<string, boolean> => {
    const taken = new Map<string, boolean>();
    const decide = (pipe: Pipe, value: unknown): boolean => {
      if (value !== UNKNOWN && (isActual || !usesVariables(pipe))) return isTrue(value);
      const key = sourceOf(template, pipe);
      if (!taken.has(key)) taken.set(key, decisions.get(key) ?? otherwise);
      return taken.get(key)!;
    };
    try {
      add(variantOf(template, { data, decide, isActual, refs }, taken));
      succeeded = true;
    } catch (error) {
      if (!(error instanceof TemplateError) || (isActual && taken.size === 0)) throw error;
      failure ??= error;
    }
    return taken;
  };
  const pending: ReadonlyMap<string, boolean>[] = [new Map()];
  const conditions = new Set<string>();
  for (let next = pending.pop(); next && tried.size < MOST_VARIANTS; next = pending.pop()) {
    const taken = attempt(next, true);
    const keys = [...taken.keys()];
    for (const key of keys) conditions.add(key);
    tried.add(JSON.stringify([...taken]));
    for (let at = next.size; at < keys.length; at++)
      pending.push(new Map([...keys.slice(0, at).map((key) => [key, taken.get(key)!] as const), [keys[at]!, false]]));
  }
  // A branch may fail on purpose if a value is missing. It is an error if all of them fail.
  if (isActual && !succeeded && failure) throw failure;
  if (tried.size < MOST_VARIANTS) return;
  for (const otherwise of [true, false]) {
    attempt(new Map(), otherwise);
    for (const key of conditions) attempt(new Map([[key, !otherwise]]), otherwise);
  }
}

interface Exploration {
  readonly data: KnownData & { readonly incremental: boolean };
  readonly decide: (pipe: Pipe, value: unknown) => boolean;
  readonly isActual: boolean;
  readonly refs: TemplateRef[];
}

function variantOf(
  template: Template,
  { data, decide, isActual, refs }: Exploration,
  taken: ReadonlyMap<string, boolean>,
): TemplateVariant {
  const unknowns: string[] = [];
  const names = ["state", "partition", "user", "args", "self", "table"];
  const unknown = Object.fromEntries(names.map((name) => [name, UNKNOWN]));
  const functions = new Map<string, TemplateFunction>(
    projectFunctions({
      ...data,
      lookup: (name, kind) => {
        refs.push({ name, ...(kind !== undefined && { kind }), offset: 0 });
        return UNKNOWN;
      },
      ref: (name, kind) => {
        refs.push({ name, ...(kind !== undefined && { kind }), offset: 0 });
        return `"${name.replaceAll('"', '""')}"`;
      },
    }),
  );
  for (const name of ["ref", "lookup", "env", "dependency", "configure"]) {
    const call = functions.get(name)!;
    functions.set(name, (values) => (values.includes(UNKNOWN) ? UNKNOWN : call(values)));
  }
  const textWith = (stand: string): RenderedTemplate =>
    renderTemplate(template, {
      root: rootOf({ ...data, ...unknown }),
      functions,
      decide,
      placeholder: (pipe) => {
        if (stand === UNKNOWN_NAME) unknowns.push(sourceOf(template, pipe));
        return stand;
      },
    });
  const first = textWith(UNKNOWN_NAME);
  const texts = unknowns.length === 0 ? [first] : [first, textWith("0"), textWith("")];
  return { texts, isActual, unknowns: [...[...taken].map(([key, value]) => `${key}=${value}`), ...unknowns] };
}

const sourceOf = ({ text }: Template, { start, end }: Pipe): string =>
  text.slice(start, end).trim().replace(/\s+/g, " ");

/**
 * Keeps the first ref of each name. Refs that are literals in the text come first and have their offset; those that a
 * render found have none.
 */
function uniqueRefs(refs: readonly TemplateRef[]): readonly TemplateRef[] {
  const byName = new Map<string, TemplateRef>();
  for (const ref of refs) {
    const key = JSON.stringify([ref.kind?.toLowerCase(), ref.name.toLowerCase()]);
    if (!byName.has(key)) byName.set(key, ref);
  }
  return [...byName.values()];
}

interface Facts {
  isTemplate: boolean;
  readonly functions: Set<string>;
  readonly variables: Set<string>;
  readonly refs: TemplateRef[];
  readonly configured: { readonly values: readonly unknown[]; readonly offset: number }[];
}

function factsOf({ nodes, definitions }: Template): Facts {
  const facts: Facts = { isTemplate: false, functions: new Set(), variables: new Set(), refs: [], configured: [] };
  const visit = (some: readonly TemplateNode[]): void => {
    for (const node of some) {
      if (node.type !== "text") facts.isTemplate = true;
      if ("pipe" in node && node.pipe) visitPipe(node.pipe, facts);
      if ("body" in node) {
        visit(node.body);
        visit(node.otherwise);
      }
    }
  };
  visit(nodes);
  if (definitions.size > 0) facts.isTemplate = true;
  for (const body of definitions.values()) visit(body);
  return facts;
}

function visitPipe({ commands }: Pipe, facts: Facts): void {
  for (const { operands } of commands) {
    for (const operand of operands) {
      if (operand.type === "pipe") visitPipe(operand.pipe, facts);
      const variable = variableIn(operand);
      if (variable !== undefined) facts.variables.add(variable);
      if (operand.type === "function") facts.functions.add(operand.name);
    }
    const [head, ...rest] = operands;
    if (head.type !== "function") continue;
    const values = rest.map((operand) => (operand.type === "literal" ? operand.value : undefined));
    if (values.includes(undefined)) continue;
    if (head.name === "configure") facts.configured.push({ values, offset: head.start });
    if (head.name === "env" && typeof values[0] === "string") facts.variables.add(values[0]);
    const [first, second] = values;
    if (!["ref", "dependency", "lookup"].includes(head.name) || typeof first !== "string") continue;
    if (typeof second === "string") facts.refs.push({ kind: first, name: second, offset: rest[1]!.start });
    else facts.refs.push({ name: first, offset: rest[0]!.start });
  }
}

/** The variable of `.env.NAME` or `$.env.NAME`. */
function variableIn(operand: Operand): string | undefined {
  const isRoot = operand.type === "dot" || (operand.type === "variable" && operand.name === "$");
  const [first, ...rest] = operand.fields;
  return isRoot && (first === "env" || first === "vars") && rest.length > 0 ? rest.join(".") : undefined;
}

function usesVariables({ commands }: Pipe): boolean {
  return commands.some(({ operands }) =>
    operands.some((operand) => {
      if (operand.type === "pipe") return usesVariables(operand.pipe);
      return variableIn(operand) !== undefined || (operand.type === "function" && operand.name === "env");
    }),
  );
}
