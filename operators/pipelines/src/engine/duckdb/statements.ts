/** Matches a quoted text, a comment or a dollar-quoted text as a whole, or one semicolon. */
const PIECES = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|;/g;

const LEADING = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

/** Statements that belong to the connection or the process, not to a transaction. */
const OF_SESSION =
  /^(attach|detach|use|set|reset|load|install|pragma|create\s+(or\s+replace\s+)?(temp(orary)?\s+)?secret)\b/i;

/** One statement of a text. */
export interface Statement {
  readonly sql: string;
  /** Where it begins in the text. */
  readonly offset: number;
}

/** The statements of a text. Semicolons in quotes and comments do not count. */
export function statementsOf(text: string): readonly Statement[] {
  const found: Statement[] = [];
  let start = 0;
  const add = (end: number): void => {
    const sql = text.slice(start, end);
    if (sql.replace(LEADING, "") !== "") found.push({ sql, offset: start });
    start = end + 1;
  };
  for (const match of text.matchAll(PIECES)) {
    if (match[0] === ";") add(match.index);
  }
  add(text.length);
  return found;
}

/** Whether the statement takes effect outside of any transaction, as ATTACH and SET do. */
export function isOfSession(sql: string): boolean {
  return OF_SESSION.test(sql.replace(LEADING, ""));
}
