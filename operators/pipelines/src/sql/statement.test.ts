import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statementOf } from "./statement.js";
import { splitStatements } from "./tokens.js";

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:");
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function parse(sql: string) {
  const reader = await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", [sql]);
  return statementOf(sql, String(reader.getRows()[0]![0]));
}

async function parsed(sql: string) {
  const statement = await parse(sql);
  if (statement.type === "invalid") throw new Error(statement.message);
  return statement;
}

const tables = async (sql: string) =>
  (await parsed(sql)).tables.map(({ catalog, schema, table }) => [catalog, schema, table].filter(Boolean).join("."));

describe("tables of a statement [50]", () => {
  it.each([
    ["joins", "SELECT * FROM a JOIN b USING (x) LEFT JOIN c ON b.y = c.y, d", ["a", "b", "c", "d"]],
    ["subqueries in FROM", "SELECT * FROM (SELECT * FROM (SELECT * FROM a)) t", ["a"]],
    [
      "common table expressions and unions",
      "WITH t AS (SELECT * FROM a) SELECT * FROM t UNION SELECT * FROM b",
      ["a", "b"],
    ],
    ["a pivot with values", "PIVOT a ON x IN (1, 2) USING sum(y)", ["a"]],
    ["an unpivot", "UNPIVOT a ON x, y INTO NAME n VALUE v", ["a"]],
    ["WHERE … IN", "SELECT * FROM a WHERE x IN (SELECT x FROM b)", ["a", "b"]],
    ["a scalar subquery", "SELECT (SELECT max(x) FROM b) FROM a", ["b", "a"]],
    [
      "HAVING, QUALIFY and ORDER BY",
      "SELECT x FROM a GROUP BY x HAVING x > (FROM b) QUALIFY (FROM c) ORDER BY (FROM d)",
      ["d", "a", "b", "c"],
    ],
    ["an expression that bears a table's name", "WITH foo AS (SELECT * FROM foo) SELECT * FROM foo", ["foo"]],
    ["an expression that only later ones see", "WITH a AS (FROM b), b AS (FROM a) FROM b", ["b"]],
    ["a recursive expression", "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r, a) FROM r", ["a"]],
    ["an expression of one branch only", "(WITH a AS (SELECT 1) FROM a) UNION (FROM a)", ["a"]],
    ["an expression of another case", "WITH Foo AS (SELECT 1) SELECT * FROM fOO", []],
    [
      "an expression that an inner query hides",
      "WITH a AS (SELECT 1) SELECT * FROM a, (WITH b AS (FROM a) FROM b)",
      [],
    ],
    ["names with schema and catalog", "WITH y AS (SELECT 1) SELECT * FROM s.y, c.s.y, y", ["s.y", "c.s.y"]],
    ["lateral and as-of joins", "SELECT * FROM a ASOF JOIN b USING (t), LATERAL (SELECT a.x FROM c)", ["a", "b", "c"]],
    ["DESCRIBE and SUMMARIZE", "SELECT * FROM (DESCRIBE a), (SUMMARIZE b)", ["a", "b"]],
    ["query_table", "FROM query_table('a') UNION ALL FROM query_table(['b', 'c'])", ["a", "b", "c"]],
    [
      "EXISTS and lists",
      "SELECT ARRAY(FROM a), EXISTS (FROM b), list_transform([1], lambda x: (SELECT x FROM c))",
      ["a", "b", "c"],
    ],
  ])("%s", async (_title, sql, expected) => {
    expect(await tables(sql)).toEqual(expected);
  });

  it("offsets count characters, also after multi-byte characters", async () => {
    const sql = "SELECT 'é😀' FROM \"größe\" JOIN b USING (x)";
    expect((await parsed(sql)).tables).toEqual([
      { table: "größe", offset: sql.indexOf('"größe"') },
      { table: "b", offset: sql.indexOf("b USING") },
    ]);
  });

  it.each([
    ["SELECT * FROM 'data/*.csv', \"x.parquet\"", ["data/*.csv", "x.parquet"]],
    ["FROM read_csv('a.csv', delim = ',')", ["a.csv"]],
    ["FROM read_parquet(['a', 'b']) JOIN read_json('https://x/y') USING (z)", ["a", "b", "https://x/y"]],
    ["FROM data.csv", ["data.csv"]],
    ["FROM glob('x/*')", ["x/*"]],
  ])("files: %s", async (sql, files) => {
    expect(await parsed(sql)).toMatchObject({ files, tables: [] });
  });
});

describe("statements that DuckDB does not serialise", () => {
  it.each([
    ["PIVOT a ON x USING sum(y)", ["a"]],
    ["WITH t AS (SELECT * FROM b JOIN s.c USING (x)) PIVOT t ON x", ["b", "s.c"]],
    ["WITH foo AS (SELECT * FROM foo) FROM (PIVOT foo ON x)", ["foo"]],
    ["WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n FROM r) FROM (PIVOT r ON n)", []],
    ["SELECT * FROM (PIVOT a ON x), b, (FROM c) -- FROM d", ["a", "b", "c"]],
    ["INSERT INTO x SELECT y, z FROM a, b WHERE 'FROM c' = 1", ["a", "b"]],
    ['CREATE TABLE x AS SELECT * FROM "A b"', ["A b"]],
  ])("%s", async (sql, expected) => {
    const statement = await parsed(sql);
    expect(statement.isExact).toBe(false);
    expect(statement.tables.map(({ schema, table }) => [schema, table].filter(Boolean).join("."))).toEqual(expected);
  });

  it("tells queries from other statements", async () => {
    expect((await parsed("PIVOT a ON x")).isQuery).toBe(true);
    expect((await parsed("CREATE TABLE x AS SELECT 1")).isQuery).toBe(false);
  });
});

describe("the hash of a statement", () => {
  const hash = async (sql: string) => (await parsed(sql)).hash;

  it.each([
    ["SELECT a, b FROM t WHERE x = 'Y'", "select A,\n\tb -- note\nfrom \"T\" /* /* x */ */ where X='Y' ;"],
    ["PIVOT a ON x", "pivot A on x -- note"],
  ])("ignores comments, white space and case: %s", async (left, right) => {
    expect(await hash(left)).toBe(await hash(right));
  });

  it.each([
    ["SELECT 'a'", "SELECT 'A'"],
    ["SELECT 9007199254740993", "SELECT 9007199254740992"],
    ["SELECT 123456789012345678901234567890", "SELECT 123456789012345678901234567891"],
    ["SELECT 1", "SELECT '1'"],
    ["SELECT {'Foo': 1}", "SELECT {'foo': 1}"],
    ["FROM 'Data/x.csv'", "FROM 'data/x.csv'"],
    ["SELECT a, b", "SELECT b, a"],
    ["PIVOT a ON x", "PIVOT a ON y"],
    ["FROM (PIVOT a ON x) WHERE y = 'b'", "FROM (PIVOT a ON x) WHERE y = 'B'"],
    ["SELECT CAST(x AS VARCHAR)", "SELECT CAST(x AS INTEGER)"],
  ])("differs for %s and %s", async (left, right) => {
    expect(await hash(left)).not.toBe(await hash(right));
  });
});

describe("text that is no statement", () => {
  it.each([
    ["SELECT * FRM x", 'syntax error at or near "x"', 13],
    ["SELECT 'é😀', 3 FRM é x", 'syntax error at or near "é"', 20],
    ["SELECT (SELECT", "syntax error at end of input", 14],
    ["SELECT 1; SELECT 2;", "there are 2 statements, but only one is allowed", 10],
    ["ATTACH 'x.db'; SELECT 1", "there are 2 statements, but only one is allowed", 15],
    ["  -- nothing\n;", "there is no statement", undefined],
    ["", "there is no statement", undefined],
  ])("%s", async (sql, message, offset) => {
    expect(await parse(sql)).toEqual({ type: "invalid", message, ...(offset !== undefined && { offset }) });
  });

  it("a script is split at its semicolons, not at those in strings and comments", () => {
    const sql = "ATTACH 'a;b' AS \"c;d\"; -- e;\n;SELECT $x$;$x$ /* ; */, E'\\';' ;";
    expect(splitStatements(sql)).toEqual([
      { sql: "ATTACH 'a;b' AS \"c;d\"", offset: 0 },
      { sql: "SELECT $x$;$x$ /* ; */, E'\\';'", offset: sql.indexOf("SELECT") },
    ]);
  });
});
