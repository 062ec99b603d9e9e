/** An issue with an expression, and its position in the text. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

/** Thrown for text that is not a valid expression. */
export class IssueError extends Error {
  readonly issues: readonly Issue[];

  /** The message shows the text with a mark under each position, as kube-apiserver does. */
  constructor(text: string, issues: readonly Issue[]) {
    const sorted = issues
      .map((issue) => ({ issue, place: placeOf(text, issue.at) }))
      .sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
    super(sorted.map(({ issue, place }) => shown(issue, place)).join("\n"));
    this.issues = issues;
  }
}

interface Place {
  /** One-based. */
  readonly line: number;
  /** Number of characters before it in its line. */
  readonly column: number;
  readonly text: string;
}

/** The position of an issue without one. It sorts before the first line. */
export const NOWHERE = -1;
const MAX_SHOWN_LENGTH = 16384;

function placeOf(text: string, at: number): Place {
  if (at === NOWHERE) return { line: -1, column: 0, text: "" };
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  return {
    line: text.slice(0, start).split("\n").length,
    column: [...text.slice(start, at)].length,
    text: text.slice(start, end < 0 ? text.length : end),
  };
}

function shown({ message }: Issue, { line, column, text }: Place): string {
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  if (line < 0 || Buffer.byteLength(text) > MAX_SHOWN_LENGTH) return head;
  const characters = [...text.replaceAll("\t", " ")];
  const isWide = (character: string | undefined): boolean => character !== undefined && character > "\u007f";
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? "\uff0e" : "."));
  const mark = isWide(characters[column]) ? "\uff3e" : "^";
  return `${head}\n | ${characters.join("")}\n | ${dots.join("")}${mark}`;
}
