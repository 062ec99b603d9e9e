import type { ProjectSettings } from "./project.js";
import type { ResourceFile } from "./resource-file.js";
import type { Place, Problem, SourceText } from "./source-text.js";
import type { SqlAnalysis, SqlOptions, TextAnalysis } from "./sql-analysis.js";

/** Another resource that a file names. */
export interface NamedRef {
  readonly name: string;
  /** The `type` of its file; undefined where any will do. */
  readonly type?: string;
  readonly place: Place;
  /** Whether it may be absent: connectors that the engine has by itself, for one. */
  readonly isOptional?: boolean;
}

/** A table that SQL reads. It is a ref where a model of that name is there, otherwise perhaps a table that somebody else made. */
export interface TableUse {
  readonly name: string;
  readonly place: Place;
}

/** What a file declares, before names are resolved. */
export interface Declaration {
  /** Plain JSON, of the type that the graph's kind takes. */
  readonly spec: unknown;
  readonly refs?: readonly NamedRef[];
  readonly tables?: readonly TableUse[];
  /** The table that it keeps, if it has another name than the resource: SQL may use both. */
  readonly tableName?: string;
  /** Local files and globs whose change is a reason to read this file again. */
  readonly patterns?: readonly string[];
  readonly warnings?: readonly Problem[];
}

/** What a file kind may use. */
export interface FileContext {
  readonly settings: ProjectSettings;
  /** The driver of a connector; its name where no file declares it. */
  driverOf(connector: string): string;
  /** Whether a DuckDB connector is another database than the one in which models are built. */
  isElsewhere(connector: string): boolean;
  /** Renders a template with all its branches, and parses what it becomes. Throws where the file is wrong. */
  sql(text: SourceText, options?: SqlOptions): Promise<SqlAnalysis>;
  /** The same for a template that is no SQL. */
  text(text: SourceText): TextAnalysis;
  /** Says what the matching local files hold; equal for equal content. */
  fingerprint(pattern: string): Promise<string>;
}

/**
 * A type of file: what its `type:` is called, and how it becomes a resource of the graph. Models, sources and connectors are
 * such kinds; a user's own are given to `ProjectParser`.
 *
 * ```ts
 * const exports = fileKind({
 *   type: "export",
 *   kind: "Export",
 *   directories: ["exports"],
 *   parse: (file) => ({ spec: { format: textAt(file.settings, "format")?.text ?? "csv" } }),
 * });
 * ```
 */
export interface FileKind {
  readonly type: string;
  /** The kind of its resources in the graph. */
  readonly kind: string;
  /** Folders at the top of the project whose files are of this type unless they say otherwise. */
  readonly directories?: readonly string[];
  /** The key of the project file that has defaults for files of this type. */
  readonly defaults?: string;
  /** Absent for a type that is listed but not run. Throws a `ProblemError` where the file is wrong. */
  parse?(file: ResourceFile, context: FileContext): Declaration | Promise<Declaration>;
}

export function fileKind(kind: FileKind): FileKind {
  return kind;
}

/** Rill writes types with and without underscores. */
export const typeKey = (type: string): string => type.toLowerCase().replace(/[_-]/g, "");
