import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it } from "vitest";
import { rowsOf } from "./json-values.js";

async function jsonOf(sql: string): Promise<unknown> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    return rowsOf(await connection.runAndReadAll(`SELECT ${sql} AS x`))[0]!.x;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

describe("a value in JSON", () => {
  it.each([
    ["9007199254740991::BIGINT", 9007199254740991],
    ["9007199254740993::BIGINT", "9007199254740993"],
    ["(SELECT sum(n) FROM (VALUES (1), (2)) v(n))", 3],
    ["1.50::DECIMAL(10, 2)", 1.5],
    ["123456789012345678.25::DECIMAL(30, 2)", "123456789012345678.25"],
    ["'nan'::DOUBLE", null],
    ["['inf'::FLOAT, '-inf'::FLOAT, 1.5]", [null, null, 1.5]],
    ["{'a': 'nan'::DOUBLE, 'b': MAP {'k': 1.5::DECIMAL(3, 1)}}", { a: null, b: { k: 1.5 } }],
    ["MAP {1: 'x', 2: NULL}", { 1: "x", 2: null }],
    ["MAP {DATE '2024-01-02': [1]}", { "2024-01-02": [1] }],
    ["union_value(num := 2)", { num: 2 }],
    ["INTERVAL '1 month 2 days 3 seconds'", { months: 1, days: 2, micros: 3_000_000 }],
    ['\'{"a": [1, "x"]}\'::JSON', { a: [1, "x"] }],
    ["['1'::JSON, NULL]", [1, null]],
    ["to_json('nan'::DOUBLE)", "NaN"],
    ["'{\"a\": 1}'", '{"a": 1}'],
    ["TIMESTAMP '2024-01-02 03:04:05.5'", "2024-01-02T03:04:05.5Z"],
    ["TIMESTAMP 'infinity'", "infinity"],
    ["DATE '2024-01-02'", "2024-01-02"],
    ["'a\\x00'::BLOB", "a\\x00"],
    ["NULL", null],
  ])("of %s", async (sql, expected) => {
    expect(await jsonOf(sql)).toEqual(expected);
  });
});
