import { createHash } from "node:crypto";
import type { ParsedStatement } from "../engine/engine.js";
import { collectMentions, isFileName, type Mentions, type SqlNode } from "./mentions.js";
import { tokenMentions } from "./token-mentions.js";
import { splitStatements, tokensOf } from "./tokens.js";

/** What `json_serialize_sql` answers. */
type Serialized =
  | { readonly error: false; readonly statements: readonly SqlNode[] }
  | {
      readonly error: true;
      readonly error_type: string;
      readonly error_message: string;
      readonly position?: string;
    };

/**
 * What a statement reads and means, from its text and what DuckDB's `json_serialize_sql` says of it. The text must hold one
 * statement; a semicolon may end it.
 */
export function statementOf(sql: string, serialized: string): ParsedStatement {
  const answer = JSON.parse(withExactNumbers(serialized)) as Serialized;
  if (answer.error && answer.error_type !== "not implemented") return invalidOf(sql, answer);
  // DuckDB counts the statements of queries; those of other statements it does not serialise.
  const count = answer.error ? splitStatements(sql).length : answer.statements.length;
  if (count === 0) return { type: "invalid", message: "there is no statement" };
  if (count > 1)
    return {
      type: "invalid",
      message: `there are ${count} statements, but only one is allowed`,
      offset: splitStatements(sql)[1]!.offset,
    };
  return answer.error ? tokenStatement(sql) : treeStatement(sql, answer.statements[0]!);
}

function invalidOf(sql: string, { error_message, position }: Serialized & { error: true }): ParsedStatement {
  if (position === undefined) return { type: "invalid", message: error_message };
  // DuckDB counts code points here.
  return { type: "invalid", message: error_message, offset: [...sql].slice(0, Number(position)).join("").length };
}

function treeStatement(sql: string, tree: SqlNode): ParsedStatement {
  const found: Mentions = { tables: [], files: [] };
  collectMentions(tree, new Set(), found);
  const offsetOf = byteOffsets(sql);
  return {
    type: "parsed",
    isQuery: true,
    tables: found.tables.map((mention) => ({ ...mention, offset: offsetOf(mention.offset) })),
    files: [...new Set(found.files)],
    hash: hashOf(JSON.stringify(canonical(tree, ""))),
    isExact: true,
  };
}

function tokenStatement(sql: string): ParsedStatement {
  const tokens = tokensOf(sql).filter(({ type, value }) => type !== "symbol" || value !== ";");
  const { tables, files } = tokenMentions(tokens);
  const meaning = tokens.map(({ type, value }) => [type === "string", type === "string" ? value : value.toLowerCase()]);
  return {
    type: "parsed",
    isQuery: /^(with|select|from|pivot|unpivot|table|values|describe|summarize|show|\()$/i.test(tokens[0]!.value),
    tables,
    files: [...new Set(files)],
    hash: hashOf(JSON.stringify(meaning)),
    isExact: false,
  };
}

/** Integers beyond 2^53 become texts, so that statements which differ in them alone differ in their hash. */
function withExactNumbers(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{14,}/g, (token) => (token[0] === '"' ? token : `"${token}"`));
}

/** The tree without positions, and with identifiers in one case: DuckDB tells none apart by case. Values keep theirs. */
function canonical(node: unknown, key: string): unknown {
  if (typeof node === "string") return key === "table_name" && isFileName(node) ? node : node.toLowerCase();
  if (Array.isArray(node)) return node.map((item) => canonical(item, key));
  if (typeof node !== "object" || node === null) return node;
  if ("is_null" in node) return node;
  const isStruct = (node as SqlNode).function_name === "struct_pack";
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(node)) {
    if (name === "query_location") continue;
    result[name] =
      isStruct && name === "children" ? canonicalFields(value as readonly SqlNode[]) : canonical(value, name);
  }
  return result;
}

/** The keys of a struct are data: `to_json` shows their case. */
function canonicalFields(fields: readonly SqlNode[]): unknown {
  return fields.map((field) => [field.alias, canonical(field, "")]);
}

/** From an offset in the UTF-8 bytes of a text to one in its characters. */
function byteOffsets(sql: string): (offset: number) => number {
  const bytes = Buffer.from(sql);
  if (bytes.length === sql.length) return (offset) => Math.min(offset, sql.length);
  return (offset) => bytes.subarray(0, offset).toString().length;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
