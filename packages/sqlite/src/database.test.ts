import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkedParameters } from "./bind.js";
import type { SqlValue } from "./database.js";
import { availableDrivers, openDatabase } from "./open-database.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-sqlite-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("has a driver on this Node", () => {
  expect(availableDrivers().length).toBeGreaterThan(0);
});

describe.each(availableDrivers())("the driver %s", (driver) => {
  const open = (path = join(folder, "a.db")) => openDatabase(path, { driver });

  it("stores and returns every type of value", () => {
    using database = open();
    database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, value)");
    const insert = database.prepare("INSERT INTO item (value) VALUES (?)");
    const values: SqlValue[] = ["text ü\u{1f600}", "", 1, -2.5, null, Buffer.from([0, 1, 255]), 2 ** 53 - 1];
    const results = values.map((value) => insert.run(value));
    expect(results.map(({ changes }) => changes)).toEqual(values.map(() => 1));
    expect(Number(results.at(-1)?.lastInsertRowid)).toBe(values.length);
    const rows = database.prepare("SELECT value FROM item ORDER BY id").all();
    expect(rows.map(({ value }) => (value instanceof Uint8Array ? Buffer.from(value) : value))).toEqual(values);
  });

  it("returns plain rows: one, all or as they are read", () => {
    using database = open();
    database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item VALUES (1, 'a'), (2, 'b')");
    const select = database.prepare("SELECT * FROM item WHERE id > ? ORDER BY id");
    expect(select.get(0)).toEqual({ id: 1, name: "a" });
    expect(Object.keys(select.get(0)!)).toEqual(["id", "name"]);
    expect(select.get(5)).toBeUndefined();
    expect(select.all(0)).toEqual([
      { id: 1, name: "a" },
      { id: 2, name: "b" },
    ]);
    expect([...select.iterate(1)]).toEqual([{ id: 2, name: "b" }]);
    for (const row of select.iterate(0)) {
      expect(row).toEqual({ id: 1, name: "a" });
      break;
    }
    database.exec("DELETE FROM item");
    expect(select.all(0)).toEqual([]);
  });

  it("refuses values that SQLite cannot store, and stays usable", () => {
    using database = open();
    const select = database.prepare("SELECT ? AS value");
    const strange = [
      true,
      {},
      new Date(0),
      undefined,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Symbol.iterator,
      () => 1,
      [1],
    ];
    for (const value of strange) {
      expect(() => select.get(value as SqlValue)).toThrow(expect.objectContaining({ code: "SQLITE_MISUSE" }));
    }
    expect(select.get("fine")).toEqual({ value: "fine" });
  });

  it("commits on return and rolls back on a throw", () => {
    using database = open();
    database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY)");
    const insert = database.prepare("INSERT INTO item VALUES (?)");
    expect(database.transaction(() => insert.run(1).changes)).toBe(1);
    const failing = () =>
      database.transaction(() => {
        insert.run(2);
        throw new Error("no");
      });
    expect(failing).toThrow("no");
    expect(() => database.transaction(() => insert.run(1))).toThrow(
      expect.objectContaining({ code: "SQLITE_CONSTRAINT" }),
    );
    expect(database.prepare("SELECT id FROM item").all()).toEqual([{ id: 1 }]);
    database.transaction(() => insert.run(3));
    expect(database.prepare("SELECT count(*) AS count FROM item").get()).toEqual({ count: 2 });
  });

  it("reports a violated constraint, a wrong statement, a missing folder and a foreign file", () => {
    using database = open();
    database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
    const insert = database.prepare("INSERT INTO item (name) VALUES (?)");
    insert.run("a");
    expect(() => insert.run("a")).toThrow(expect.objectContaining({ code: "SQLITE_CONSTRAINT", extendedCode: 2067 }));
    expect(() => database.exec("SELEKT 1")).toThrow(expect.objectContaining({ code: "SQLITE_ERROR" }));
    expect(() => database.prepare("SELECT * FROM nothing")).toThrow(expect.objectContaining({ code: "SQLITE_ERROR" }));
    expect(() => open(join(folder, "none", "a.db"))).toThrow(expect.objectContaining({ code: "SQLITE_CANTOPEN" }));
    const foreign = join(folder, "foreign.db");
    writeFileSync(foreign, "this is no database, however long one looks at it".repeat(20));
    expect(() => open(foreign).prepare("SELECT * FROM sqlite_master").all()).toThrow(
      expect.objectContaining({ code: "SQLITE_NOTADB" }),
    );
  });

  it("reports the lock of another connection", () => {
    using first = open();
    first.exec("PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE item (id INTEGER PRIMARY KEY)");
    expect(() => {
      using second = open();
      second.exec("BEGIN IMMEDIATE");
    }).toThrow(expect.objectContaining({ code: "SQLITE_BUSY" }));
  });

  it("reports a full disk, keeps existing data and goes on", () => {
    using database = open();
    database.exec("PRAGMA page_size = 4096; CREATE TABLE item (body BLOB); PRAGMA max_page_count = 10");
    const insert = database.prepare("INSERT INTO item VALUES (?)");
    insert.run(Buffer.alloc(1000));
    expect(() => database.transaction(() => insert.run(Buffer.alloc(100_000)))).toThrow(
      expect.objectContaining({ code: "SQLITE_FULL" }),
    );
    database.transaction(() => insert.run(Buffer.alloc(1000)));
    expect(database.prepare("SELECT count(*) AS count FROM item").get()).toEqual({ count: 2 });
  });

  it("reports a damaged page", () => {
    const path = join(folder, "a.db");
    {
      using database = open(path);
      database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, body TEXT)");
      const insert = database.prepare("INSERT INTO item (body) VALUES (?)");
      database.transaction(() => {
        for (let at = 0; at < 2000; at++) insert.run("x".repeat(100));
      });
    }
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xee, 4096, bytes.length - 4096));
    using database = open(path);
    expect(() => database.prepare("SELECT * FROM item").all()).toThrow(
      expect.objectContaining({ code: "SQLITE_CORRUPT" }),
    );
  });

  it.skipIf(process.getuid?.() === 0)("names a file that may not be written to (not as root, who may)", () => {
    const path = join(folder, "a.db");
    open(path).close();
    chmodSync(path, 0o444);
    using database = open(path);
    expect(() => database.exec("CREATE TABLE item (id)")).toThrow(expect.objectContaining({ code: "SQLITE_READONLY" }));
  });

  it("refuses use after it is closed", () => {
    const database = open();
    const select = database.prepare("SELECT 1");
    database.close();
    database.close();
    expect(() => select.all()).toThrow(expect.objectContaining({ code: "SQLITE_MISUSE" }));
    expect(() => database.exec("SELECT 1")).toThrow(expect.objectContaining({ code: "SQLITE_MISUSE" }));
  });
});

it("says what to install if the requested driver is missing", () => {
  const missing = (["node:sqlite", "libsql"] as const).find((name) => !availableDrivers().includes(name));
  if (missing === undefined) return;
  expect(() => openDatabase(":memory:", { driver: missing })).toThrow(/npm install libsql/);
});

it("names the position of a parameter that cannot be stored", () => {
  expect(() => checkedParameters(["a", false as unknown as SqlValue])).toThrow("parameter 2 cannot be stored: Boolean");
});

it("suppresses only Node's warning that SQLite is experimental", () => {
  const script = `
    import { openDatabase } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    openDatabase(":memory:").close();
    process.emitWarning("another one");`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(stderr).toContain("another one");
  expect(stderr).not.toContain("SQLite");
});
