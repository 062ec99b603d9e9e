import { PipelinesError } from "../errors.js";
import { type Place, placeName, placeOf, type SourceText } from "../project/source-text.js";
import { standardFunctions } from "./functions.js";
import { parseTemplate } from "./parse-template.js";
import { renderTemplate } from "./render.js";
import { TemplateError } from "./template.js";
import type { TemplateFunction } from "./value.js";

/** The data that the templates of a project can use. */
export interface TemplateData {
  /** The template functions `dev` and `prod` test it. */
  readonly environment: string;
  /** The values of `.env` and `.vars`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the run adds to what earlier runs left. The template function `incremental` returns it. */
  readonly incremental?: boolean;
  readonly state?: unknown;
  readonly partition?: unknown;
  readonly user?: unknown;
  readonly args?: unknown;
  readonly self?: unknown;
  /** The table that `transform_sql` of partitions reads. */
  readonly table?: unknown;
  /** The name of a resource's table in SQL. Defaults to the resource's quoted name. */
  readonly ref?: (name: string, kind?: string) => string;
  readonly lookup?: (name: string, kind?: string) => unknown;
  readonly now?: Date;
}

export interface RenderedText {
  readonly text: string;
  /** The place in the file that an offset of the rendered text comes from. */
  placeOf(offset: number): Place;
}

/** Renders a template of the project. Throws a `PipelinesError` that names file, line and column. */
export function renderText(source: SourceText, data: TemplateData): RenderedText {
  // Most texts hold no action. Creating the functions for them would cost more than everything else.
  if (!source.text.includes("{{")) return { text: source.text, placeOf: (offset) => placeOf(source, offset) };
  try {
    const rendered = renderTemplate(parseTemplate(source.text), {
      root: rootOf(data),
      functions: projectFunctions(data),
    });
    return { text: rendered.text, placeOf: (offset) => placeOf(source, rendered.sourceOf(offset)) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const place = placeOf(source, error.offset);
    throw new PipelinesError("PIPELINES_FILE_INVALID", `${placeName(place)}: ${error.message}`);
  }
}

export function rootOf(data: TemplateData): Readonly<Record<string, unknown>> {
  const env = nested(data.variables);
  const { environment, state, partition, user, args, self, table } = data;
  return { environment, env, vars: env, state, partition, user, args, self, table };
}

/** Variables by name. Those with dots in their name are also maps within maps. */
function nested(variables: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = { ...variables };
  for (const [name, value] of Object.entries(variables)) {
    const parts = name.split(".");
    let map = result;
    for (const part of parts.slice(0, -1)) {
      const inner = Object.hasOwn(map, part) ? map[part] : (map[part] = {});
      if (typeof inner !== "object") break;
      map = inner as Record<string, unknown>;
    }
    if (parts.length > 1) map[parts.at(-1)!] = value;
  }
  return result;
}

/** Quotes an identifier for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The functions of every template, and those that depend on the project. */
export function projectFunctions(data: TemplateData): ReadonlyMap<string, TemplateFunction> {
  const named =
    (call: (name: string, kind?: string) => unknown): TemplateFunction =>
    (values) => {
      const [first, second] = values;
      if (values.length < 1 || values.length > 2 || !values.every((value) => typeof value === "string"))
        throw new PipelinesError("PIPELINES_FILE_INVALID", "needs a name, or a kind and a name");
      return second === undefined ? call(first as string) : call(second as string, first as string);
    };
  return new Map([
    ...standardFunctions(data.now),
    ["dev", () => data.environment === "dev"],
    ["prod", () => data.environment === "prod"],
    ["incremental", () => data.incremental ?? false],
    ["configure", () => ""],
    ["dependency", named(() => "")],
    ["ref", named((name, kind) => data.ref?.(name, kind) ?? quoted(name))],
    ["lookup", named((name, kind) => data.lookup?.(name, kind))],
    ["env", ([name]) => variableOf(data.variables, String(name))],
  ]);
}

/** The variable for `env "name"`. Ignores case if no name matches exactly. */
function variableOf(variables: Readonly<Record<string, string>>, name: string): string {
  if (Object.hasOwn(variables, name)) return variables[name]!;
  const found = Object.entries(variables).find(([key]) => key.toLowerCase() === name.toLowerCase());
  if (!found)
    throw new PipelinesError(
      "PIPELINES_FILE_INVALID",
      `the variable ${name} is not set: add it to .env or to the project file`,
    );
  return found[1];
}
