/** One token of a SQL text. White space and comments are not tokens. */
export interface SqlToken {
  readonly type: "word" | "quoted" | "string" | "number" | "symbol";
  /** A quoted identifier or a plain string without its quotes; any other token as it is written. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const PATTERNS = [
  ["blank", /\s+|--[^\n]*/y],
  ["quoted", /"(?:[^"]|"")*"/y],
  ["escaped", /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y],
  ["string", /'(?:[^']|'')*'/y],
  ["dollar", /\$(\w*)\$[\s\S]*?\$\1\$/y],
  ["number", /\d[\w.]*/y],
  ["word", /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy],
  ["symbol", /::|<=|>=|<>|!=|\|\||->>?|[\s\S]/y],
] as const;

/** Splits a SQL text into tokens. Never fails: an unclosed quote becomes a symbol. */
export function tokensOf(sql: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  let at = 0;
  while (at < sql.length) {
    if (sql.startsWith("/*", at)) {
      at = endOfComment(sql, at);
      continue;
    }
    for (const [type, pattern] of PATTERNS) {
      pattern.lastIndex = at;
      const text = pattern.exec(sql)?.[0];
      if (text === undefined) continue;
      if (type !== "blank") tokens.push({ ...meaningOf(type, text), start: at, end: at + text.length });
      at += text.length;
      break;
    }
  }
  return tokens;
}

function meaningOf(type: string, text: string): Pick<SqlToken, "type" | "value"> {
  switch (type) {
    case "quoted":
      return { type, value: text.slice(1, -1).replaceAll('""', '"') };
    case "string":
      return { type, value: text.slice(1, -1).replaceAll("''", "'") };
    case "escaped":
    case "dollar":
      return { type: "string", value: text };
    default:
      return { type: type as SqlToken["type"], value: text };
  }
}

/** Block comments nest. */
function endOfComment(sql: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start + 2;
  let depth = 1;
  for (let match = edge.exec(sql); match; match = edge.exec(sql)) {
    depth += match[0] === "/*" ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  return sql.length;
}

/** The non-empty statements of a script, each with its offset. */
export function splitStatements(sql: string): readonly { readonly sql: string; readonly offset: number }[] {
  const parts: { start: number; end: number }[] = [];
  let current: { start: number; end: number } | undefined;
  for (const { type, value, start, end } of tokensOf(sql)) {
    if (type === "symbol" && value === ";") {
      if (current) parts.push(current);
      current = undefined;
    } else current = { start: current?.start ?? start, end };
  }
  if (current) parts.push(current);
  return parts.map(({ start, end }) => ({ sql: sql.slice(start, end), offset: start }));
}
