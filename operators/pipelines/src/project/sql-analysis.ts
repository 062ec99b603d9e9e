import { createHash } from "node:crypto";
import type { ParsedStatement } from "../engine/engine.js";
import { withoutOwnName } from "../sql/own-name.js";
import { splitStatements, tokensOf } from "../sql/tokens.js";
import { analyzed, type TemplateAnalysis, type TemplateVariant, UNKNOWN_NAME } from "../template/analysis.js";
import { parseTemplate } from "../template/parse-template.js";
import type { RenderedTemplate } from "../template/render.js";
import { TemplateError } from "../template/template.js";
import type { NamedRef, TableUse } from "./file-kind.js";
import { faultAt } from "./problem-error.js";
import type { ProjectSettings } from "./project.js";
import { type Problem, placeOf, type SourceText } from "./source-text.js";

export interface SqlOptions {
  /** Whether to allow several statements, and statements that return no rows. */
  readonly isScript?: boolean;
  /** False for SQL of another database: it is rendered, but not parsed. */
  readonly isParsed?: boolean;
  /** The table that the SQL belongs to. Its name does not affect the hash. */
  readonly own?: string;
}

/** What a template means, whatever values a run fills in. */
export interface TextAnalysis {
  readonly refs: readonly NamedRef[];
  readonly variables: readonly string[];
  /** The texts that the template becomes in this environment. Excludes those with values that only a run knows. */
  readonly texts: readonly string[];
  /** Equal for texts that mean the same. Depends on the values of variables, but holds no secret. */
  readonly hash: string;
}

export interface SqlAnalysis extends TextAnalysis {
  readonly tables: readonly TableUse[];
  /** Paths, globs and URLs that the SQL reads. */
  readonly files: readonly string[];
  readonly warnings: readonly Problem[];
}

export type ParseStatement = (sql: string) => Promise<ParsedStatement>;

/** Finds the refs of a template and the texts that it becomes. Throws a `ProblemError`. */
export function analyzeText(source: SourceText, settings: ProjectSettings): TextAnalysis {
  const analysis = analysisOf(source, settings);
  const actual = analysis.variants.filter(({ isActual }) => isActual);
  return {
    ...namesOf(source, analysis),
    texts: actual.filter(({ texts }) => texts.length === 1).map(({ texts }) => texts[0]!.text),
    hash: digestOf(actual.map(({ texts, unknowns }) => [texts[0]!.text, unknowns])),
  };
}

/** Like `analyzeText`, but for SQL. Also finds the tables and files that its statements read. */
export async function analyzeSql(
  source: SourceText,
  settings: ProjectSettings,
  parse: ParseStatement,
  { isScript = false, isParsed = true, own }: SqlOptions,
): Promise<SqlAnalysis> {
  const analysis = analysisOf(source, settings);
  const reader = new VariantReader(source, settings, parse, { isScript, own });
  const variants = await Promise.all(
    analysis.variants.map((variant) => (isParsed ? reader.read(variant) : tokensOnly(variant))),
  );
  const actual = variants.filter((_, index) => analysis.variants[index]!.isActual);
  return {
    ...namesOf(source, analysis),
    texts: [],
    hash: digestOf(actual.map(({ meaning }) => meaning)),
    tables: unique(
      variants.flatMap(({ tables }) => tables),
      ({ name }) => name.toLowerCase(),
    ),
    files: unique(
      variants.flatMap(({ files }) => files),
      (file) => file,
    ),
    warnings: unique(
      variants.flatMap(({ warnings }) => warnings),
      (problem) => JSON.stringify(problem),
    ),
  };
}

function analysisOf(source: SourceText, { environment, variables }: ProjectSettings): TemplateAnalysis {
  try {
    return analyzed(parseTemplate(source.text), { environment, variables });
  } catch (error) {
    if (error instanceof TemplateError) throw faultAt(placeOf(source, error.offset), error.message);
    throw error;
  }
}

function namesOf(source: SourceText, { refs, variables }: TemplateAnalysis) {
  return {
    refs: refs.map(({ name, kind, offset }) => ({ name, ...(kind && { type: kind }), place: placeOf(source, offset) })),
    variables,
  };
}

interface VariantFacts {
  readonly meaning: unknown;
  readonly tables: readonly TableUse[];
  readonly files: readonly string[];
  readonly warnings: readonly Problem[];
}

function tokensOnly({ texts, unknowns }: TemplateVariant): VariantFacts {
  const meaning = tokensOf(texts[0]!.text).map(({ type, value }) => [type, value]);
  return { meaning: [meaning, unknowns], tables: [], files: [], warnings: [] };
}

type Reading =
  | { readonly type: "read"; readonly facts: VariantFacts }
  | { readonly type: "failed"; readonly problem: Problem; readonly source: number };

class VariantReader {
  readonly #source: SourceText;
  readonly #settings: ProjectSettings;
  readonly #parse: ParseStatement;
  readonly #isScript: boolean;
  readonly #own: string | undefined;

  constructor(
    source: SourceText,
    settings: ProjectSettings,
    parse: ParseStatement,
    { isScript, own }: { readonly isScript: boolean; readonly own: string | undefined },
  ) {
    this.#source = source;
    this.#settings = settings;
    this.#parse = parse;
    this.#isScript = isScript;
    this.#own = own;
  }

  /** Analyses the first of the variant's texts that is valid SQL. */
  async read({ texts, isActual, unknowns }: TemplateVariant): Promise<VariantFacts> {
    const readings = await Promise.all(texts.map((text) => this.#reading(text, unknowns)));
    const read = readings.find((reading) => reading.type === "read");
    if (read) return read.facts;
    const failed = readings.filter((reading) => reading.type === "failed");
    const [first] = failed as [Reading & { readonly type: "failed" }];
    // If all texts fail at the same place, the error is there, and not in a placeholder for an unknown value.
    const isCertain = isActual && failed.every(({ source }) => source === first.source);
    if (isCertain) throw faultAt(first.problem.place!, first.problem.message);
    return {
      meaning: [texts[0]!.text, unknowns],
      tables: [],
      files: [],
      warnings: [{ ...first.problem, severity: "warning" }],
    };
  }

  async #reading(rendered: RenderedTemplate, unknowns: readonly string[]): Promise<Reading> {
    const statements = this.#isScript ? splitStatements(rendered.text) : [{ sql: rendered.text, offset: 0 }];
    const parsed = await Promise.all(statements.map(({ sql }) => this.#parse(sql)));
    const tables: TableUse[] = [];
    const files: string[] = [];
    const hashes: string[] = [];
    for (const [index, statement] of parsed.entries()) {
      const base = statements[index]!.offset;
      if (statement.type === "invalid")
        return this.#failure(rendered, base + (statement.offset ?? 0), statement.message);
      if (!statement.isQuery && !this.#isScript)
        return this.#failure(rendered, base, "the SQL must be a query, such as SELECT or FROM");
      hashes.push(await this.#hashOf(statements[index]!.sql, statement));
      files.push(...statement.files.filter((file) => !file.includes(UNKNOWN_NAME)));
      for (const { catalog, schema, table, offset } of statement.tables) {
        const isLocal = catalog === undefined && (schema === undefined || schema.toLowerCase() === "main");
        if (!isLocal || table.includes(UNKNOWN_NAME)) continue;
        tables.push({ name: table, place: placeOf(this.#source, rendered.sourceOf(base + offset)) });
      }
    }
    return { type: "read", facts: { meaning: [hashes, unknowns], tables, files, warnings: [] } };
  }

  async #hashOf(sql: string, statement: ParsedStatement & { readonly type: "parsed" }): Promise<string> {
    const text = this.#own === undefined ? sql : withoutOwnName(sql, statement, this.#own);
    const nameless = text === sql ? statement : await this.#parse(text);
    return nameless.type === "parsed" ? nameless.hash : statement.hash;
  }

  #failure(rendered: RenderedTemplate, offset: number, message: string): Reading {
    // An error after the end of the text points at the end.
    const last = rendered.text.trimEnd().length;
    const source = rendered.sourceOf(Math.min(offset, Math.max(0, last)));
    const place = placeOf(this.#source, source);
    return { type: "failed", source, problem: { severity: "error", message: this.#withoutValues(message), place } };
  }

  /** Removes the values of variables from a message, because they may be secrets. */
  #withoutValues(message: string): string {
    const values = Object.values(this.#settings.variables).filter((value) => value.length >= 4);
    return values.reduce((text, value) => text.replaceAll(value, "…"), message);
  }
}

function unique<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return [...new Map([...items].reverse().map((item) => [keyOf(item), item])).values()].reverse();
}

export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}
