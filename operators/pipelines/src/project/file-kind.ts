import type { ProjectSettings } from "./project.js";
import type { ResourceFile } from "./resource-file.js";
import type { Place, Problem, SourceText } from "./source-text.js";
import type { SqlAnalysis, SqlOptions, TextAnalysis } from "./sql-analysis.js";

/** Another resource that a file names. */
export interface NamedRef {
  readonly name: string;
  /** The `type` of its file; undefined if any type will do. */
  readonly type?: string;
  readonly place: Place;
  /** Whether it may be missing, as a connector that the engine has built in. */
  readonly isOptional?: boolean;
}

/** A table that SQL reads. It is a ref if a model has that name. Otherwise somebody else may have created it. */
export interface TableUse {
  readonly name: string;
  readonly place: Place;
}

/** What a file declares, before names are resolved. */
export interface Declaration {
  /** Plain JSON: the spec for the kind in the graph. */
  readonly spec: unknown;
  readonly refs?: readonly NamedRef[];
  readonly tables?: readonly TableUse[];
  /** The name of the resource's table, if it differs from the resource's name. SQL may use both. */
  readonly tableName?: string;
  /** Local files and globs. When their content changes, this file is parsed again. */
  readonly patterns?: readonly string[];
  readonly warnings?: readonly Problem[];
}

/** What a file kind can use while it parses a file. */
export interface FileContext {
  readonly settings: ProjectSettings;
  /** The driver of a connector, or the connector's name if no file declares it. */
  driverOf(connector: string): string;
  /** Whether a DuckDB connector is another database than the one in which models are built. */
  isElsewhere(connector: string): boolean;
  /** Renders all branches of a template, and parses the resulting SQL. Throws if the file is wrong. */
  sql(text: SourceText, options?: SqlOptions): Promise<SqlAnalysis>;
  /** Like `sql`, but for a template that is not SQL. */
  text(text: SourceText): TextAnalysis;
  /** A fingerprint of the matching local files. Equal for equal content. */
  fingerprint(pattern: string): Promise<string>;
}

/**
 * A type of file: the name in its `type:`, and how such a file becomes a resource of the graph. Models, sources and
 * connectors are such kinds; users pass their own to `openPipelines`, in `fileKinds`.
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
  /** Folders at the top of the project whose files have this type by default. */
  readonly directories?: readonly string[];
  /** The key of the project file with default settings for files of this type. */
  readonly defaults?: string;
  /** Missing for a type that is listed but not run. Throws a `ProblemError` if the file is wrong. */
  parse?(file: ResourceFile, context: FileContext): Declaration | Promise<Declaration>;
}

export function fileKind(kind: FileKind): FileKind {
  return kind;
}

/** Rill writes types with and without underscores. */
export const typeKey = (type: string): string => type.toLowerCase().replace(/[_-]/g, "");
