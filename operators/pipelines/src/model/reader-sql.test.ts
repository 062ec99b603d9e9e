import { describe, expect, it } from "vitest";
import { readerSql } from "./reader-sql.js";

describe("how files are read", () => {
  it.each([
    [{}, ""],
    [{ delim: ";", header: true, types: { a: "VARCHAR" } }, ", delim = ';', header = true, types = {'a': 'VARCHAR'}"],
    // The keys below duckdb are SQL.
    [
      { duckdb: { delim: "'|'", header: true, columns: "{'a': 'INT'}" } },
      ", delim = '|', header = true, columns = {'a': 'INT'}",
    ],
    [{ "csv.delimiter": "'" }, ", delim = ''''"],
    [{ csv: { delimiter: ";" }, json: { lines: true } }, ", delim = ';'"],
    [{ allow_schema_relaxation: true, hive_partitioning: true }, ", union_by_name = true, hive_partitioning = true"],
    [{ allow_schema_relaxation: false, "glob.max_total_size": 5, extract: { rows: {} }, headers: { a: "b" } }, ""],
  ])("with %j", (options, expected) => {
    expect(readerSql("x.csv", "csv", options)).toBe(`SELECT * FROM read_csv('x.csv'${expected})`);
  });

  it("an invalid option name is an error", () => {
    expect(() => readerSql("x.csv", "csv", { "a) --": 1 })).toThrow("is not an option of a csv file");
  });
});
