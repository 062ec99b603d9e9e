import { isFileName, type Mentions } from "./mentions.js";
import type { SqlToken } from "./tokens.js";

const BEFORE_A_TABLE = new Set(["from", "join", "pivot", "unpivot", "describe", "summarize", "using"]);
const AFTER_A_LIST = new Set(
  "where group order having limit qualify window union except intersect on set values select returning".split(" "),
);

/**
 * Finds the tables and files of a statement that DuckDB does not serialise, such as a `PIVOT` without a list of values.
 * Looks at the names after `FROM`, `JOIN`, `PIVOT` and similar words. The table that `INSERT` or `CREATE` writes is not
 * a mention.
 */
export function tokenMentions(tokens: readonly SqlToken[]): Mentions {
  const found: Mentions = { tables: [], files: [] };
  const expressions = expressionsOf(tokens);
  const lists: boolean[] = [false];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    const word = token.type === "word" ? token.value.toLowerCase() : "";
    if (isSymbol(token, "(")) lists.push(false);
    else if (isSymbol(token, ")")) lists.length > 1 && lists.pop();
    else if (AFTER_A_LIST.has(word)) lists[lists.length - 1] = false;
    const isFrom = BEFORE_A_TABLE.has(word);
    if (isFrom) lists[lists.length - 1] = true;
    if (!isFrom && !(isSymbol(token, ",") && lists.at(-1))) continue;
    addName(tokens, at + 1, expressions, found);
  }
  return found;
}

function addName(
  tokens: readonly SqlToken[],
  start: number,
  expressions: ReadonlyMap<string, number>,
  { tables, files }: Mentions,
): void {
  const first = tokens[start];
  if (first?.type === "string") {
    files.push(first.value);
    return;
  }
  const parts: string[] = [];
  let at = start;
  while (tokens[at]?.type === "word" || tokens[at]?.type === "quoted") {
    parts.push(tokens[at]!.value);
    if (!isSymbol(tokens[at + 1], ".")) break;
    at += 2;
  }
  const [table, schema, catalog] = parts.reverse();
  if (!first || table === undefined) return;
  if (isSymbol(tokens[at + 1], "(")) {
    const argument = tokens[at + 2];
    if (/^read_|_scan$/i.test(table) && argument?.type === "string") files.push(argument.value);
    return;
  }
  const visibleFrom = expressions.get(table.toLowerCase());
  if (schema === undefined && visibleFrom !== undefined && first.start >= visibleFrom) return;
  if (isFileName(table)) files.push(table);
  else tables.push({ ...(catalog && { catalog }), ...(schema && { schema }), table, offset: first.start });
}

/** Names of common table expressions, each with the offset from which it hides a table of that name. */
function expressionsOf(tokens: readonly SqlToken[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  let isRecursive = false;
  for (let at = 0; at < tokens.length; at++) {
    if (isWord(tokens[at], "recursive")) isRecursive = true;
    const name = tokens[at - 1];
    if (!isWord(tokens[at], "as") || !name) continue;
    let open = at + 1;
    if (isWord(tokens[open], "not")) open++;
    if (isWord(tokens[open], "materialized")) open++;
    if (!isSymbol(tokens[open], "(")) continue;
    const owner = isSymbol(name, ")") ? tokens[matching(tokens, at - 1, -1) - 1] : name;
    if (owner?.type !== "word" && owner?.type !== "quoted") continue;
    const from = isRecursive ? owner.start : (tokens[matching(tokens, open, 1)]?.end ?? owner.start);
    found.set(owner.value.toLowerCase(), from);
  }
  return found;
}

/** Index of the parenthesis that matches the one at `at`. */
function matching(tokens: readonly SqlToken[], at: number, step: 1 | -1): number {
  let depth = 0;
  for (let index = at; index >= 0 && index < tokens.length; index += step) {
    if (isSymbol(tokens[index], "(")) depth += step;
    else if (isSymbol(tokens[index], ")")) depth -= step;
    if (depth === 0) return index;
  }
  return -1;
}

const isSymbol = (token: SqlToken | undefined, value: string) => token?.type === "symbol" && token.value === value;
const isWord = (token: SqlToken | undefined, value: string) =>
  token?.type === "word" && token.value.toLowerCase() === value;
