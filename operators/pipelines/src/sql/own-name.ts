import type { ParsedStatement } from "../engine/engine.js";
import { type SqlToken, tokensOf } from "./tokens.js";

/** Stands for the table of the model that the SQL belongs to. */
const SELF = "__self__";

/** After these a name is that of a table, in statements that DuckDB does not break down. */
const BEFORE_A_TARGET = new Set(["into", "update", "table", "view", "exists"]);

/**
 * The statement with one name for the table `own`, whatever that is called: what it means then does not change with a rename of
 * the model. The table is found where the statement reads it, and where its name qualifies a column.
 */
export function withoutOwnName(sql: string, statement: ParsedStatement, own: string): string {
  if (statement.type !== "parsed" || !sql.toLowerCase().includes(own.toLowerCase().replaceAll('"', '""'))) return sql;
  const tokens = tokensOf(sql);
  const isOwn = (token: SqlToken | undefined): boolean =>
    (token?.type === "word" || token?.type === "quoted") && token.value.toLowerCase() === own.toLowerCase();
  const starts = new Set(statement.tables.filter(({ catalog }) => catalog === undefined).map(({ offset }) => offset));
  /** Where the name at `at` begins, with the schema `main` before it; undefined in another schema. */
  const beginOf = (at: number): number | undefined => {
    if (tokens[at - 1]?.value !== ".") return at;
    return /^main$/i.test(tokens[at - 2]?.value ?? "") && tokens[at - 3]?.value !== "." ? at - 2 : undefined;
  };
  const isTarget = (at: number): boolean => {
    const before = tokens[at - 1];
    return !statement.isExact && before?.type === "word" && BEFORE_A_TARGET.has(before.value.toLowerCase());
  };
  const named = tokens.map((token, at) => {
    const begin = isOwn(token) ? beginOf(at) : undefined;
    if (begin === undefined) return "no";
    if (starts.has(tokens[begin]!.start) || isTarget(begin)) return "table";
    return tokens[at + 1]?.value === "." ? "qualifier" : "no";
  });
  if (!named.includes("table")) return sql;
  let [text, last] = ["", 0];
  for (const [at, { start, end }] of tokens.entries()) {
    if (named[at] === "no") continue;
    text += sql.slice(last, start) + SELF;
    last = end;
  }
  return text + sql.slice(last);
}
