/** A place in a file of the project. Line and column start at 1. */
export interface Place {
  /** Relative to the project's folder, without a leading slash, with forward slashes. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** A text with its origin in a file, so that an error in the text can name its place in the file. */
export interface SourceText {
  readonly text: string;
  readonly path: string;
  /**
   * The pieces of the text that are verbatim in the file, sorted. From `offset` on, the text is at `line` and `column`
   * of the file. Within a piece, a line break leads to the next line of the file, at the piece's column. The first
   * piece begins at 0.
   */
  readonly origin: readonly (readonly [offset: number, line: number, column: number])[];
}

/** An error or a warning about a file. */
export interface Problem {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Undefined if no file is the cause. */
  readonly place?: Place;
  /** True for an error that another file causes, such as a name that is taken. It goes away when that file changes. */
  readonly external?: boolean;
}

/** A text that is verbatim in its file, from the given place on. */
export function sourceText(path: string, text: string, line = 1, column = 1): SourceText {
  return { text, path, origin: [[0, line, column]] };
}

/** The place in the file of a character of the text. */
export function placeOf({ text, path, origin }: SourceText, offset: number): Place {
  const end = Math.max(0, Math.min(offset, text.length));
  const piece = origin.findLast(([start]) => start <= end) ?? [0, 1, 1];
  const before = text.slice(piece[0], end);
  const lastBreak = before.lastIndexOf("\n");
  if (lastBreak === -1) return { path, line: piece[1], column: piece[2] + before.length };
  const breaks = before.split("\n").length - 1;
  return { path, line: piece[1] + breaks, column: piece[2] + before.length - lastBreak - 1 };
}

/** `models/orders.sql:3:7`, as editors and terminals link it. */
export function placeName({ path, line, column }: Place): string {
  return `${path}:${line}:${column}`;
}
