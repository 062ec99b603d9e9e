import { createHash } from "node:crypto";
import type { ParsedStatement } from "../engine/engine.js";
import { collectMentions, isFileName, type Mentions, type SqlNode } from "./mentions.js";
import { tokenMentions } from "./token-mentions.js";
import { splitStatements, tokensOf } from "./tokens.js";

/** The result of `json_serialize_sql`. */
type Serialized =
  | { readonly error: false; readonly statements: readonly SqlNode[] }
  | {
      readonly error: true;
      readonly error_type: string;
      readonly error_message: string;
      readonly position?: string;
    };

/**
 * Describes a statement, from its text and the output of DuckDB's `json_serialize_sql`. The text must hold one
 * statement, which may end with a semicolon.
 */
export function statementOf(sql: string, serialized: string): ParsedStatement {
  const answer = JSON.parse(withExactNumbers(serialized)) as Serialized;
  if (answer.error && answer.error_type !== "not implemented") return invalidOf(sql, answer);
  // DuckDB serialises only queries. Count other statements by their tokens.
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
  // DuckDB's position counts code points; offsets of strings count UTF-16 units.
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

/**
 * Turns long numbers into strings. `JSON.parse` rounds integers beyond 2^53, so statements that differ only in such a
 * number would get the same hash.
 */
function withExactNumbers(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{14,}/g, (token) => (token[0] === '"' ? token : `"${token}"`));
}

/**
 * The tree without positions and with lower-case identifiers, because DuckDB ignores their case. Constants and file
 * names keep their case.
 */
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

/** Keeps the case of struct keys, because `to_json` shows it. */
function canonicalFields(fields: readonly SqlNode[]): unknown {
  return fields.map((field) => [field.alias, canonical(field, "")]);
}

/** Converts an offset in UTF-8 bytes to an offset in characters. */
function byteOffsets(sql: string): (offset: number) => number {
  const bytes = Buffer.from(sql);
  if (bytes.length === sql.length) return (offset) => Math.min(offset, sql.length);
  return (offset) => bytes.subarray(0, offset).toString().length;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
