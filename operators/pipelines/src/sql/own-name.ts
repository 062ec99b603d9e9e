import type { ParsedStatement } from "../engine/engine.js";
import { type SqlToken, tokensOf } from "./tokens.js";

/** Placeholder for the table of the model that the SQL belongs to. */
const SELF = "__self__";

/** A name after one of these words is a table. Used only for statements that DuckDB does not serialise. */
const BEFORE_A_TARGET = new Set(["into", "update", "table", "view", "exists"]);

/**
 * Replaces the name of the table `own` with a placeholder, so that a rename of the model does not change what its SQL
 * means. Finds the name where the statement reads the table and where it qualifies a column. In a statement that DuckDB
 * does not serialise, also where it is the target of a write.
 */
export function withoutOwnName(sql: string, statement: ParsedStatement, own: string): string {
  if (statement.type !== "parsed" || !sql.toLowerCase().includes(own.toLowerCase().replaceAll('"', '""'))) return sql;
  const tokens = tokensOf(sql);
  const isOwn = (token: SqlToken | undefined): boolean =>
    (token?.type === "word" || token?.type === "quoted") && token.value.toLowerCase() === own.toLowerCase();
  const starts = new Set(statement.tables.filter(({ catalog }) => catalog === undefined).map(({ offset }) => offset));
  /** Index of the first token of the name at `at`, including a `main.` before it. Undefined in another schema. */
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
