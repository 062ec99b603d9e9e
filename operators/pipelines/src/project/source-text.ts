/** A place in a file of the project. Line and column begin with 1. */
export interface Place {
  /** Relative to the project's folder, without a leading slash, with forward slashes. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** A text as it stands in a file, so that an error in it can name its place in the file. */
export interface SourceText {
  readonly text: string;
  readonly path: string;
  /**
   * Where each line of the text stands in the file, as `[line, column]`; one entry if the text's lines follow each other in the
   * file with the same column, as in a SQL file or a YAML block scalar.
   */
  readonly lines: readonly (readonly [line: number, column: number])[];
}

/** What a person should know about a file. */
export interface Problem {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Undefined where no file is to blame. */
  readonly place?: Place;
  /** True for an error that another file causes, such as a name that is taken: it goes away when that file changes. */
  readonly external?: boolean;
}
