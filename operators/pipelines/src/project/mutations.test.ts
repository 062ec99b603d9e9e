import { seededRandom } from "setpoint/clock";
import { afterAll, describe, expect, it } from "vitest";
import { tokensOf } from "../sql/tokens.js";
import { ParsingEngine, ProjectFolder, problemsIn } from "./project-folder.testing.js";

/** A valid project. */
const GOOD: Readonly<Record<string, string>> = {
  "rill.yaml": `display_name: Shop
olap_connector: duckdb
env:
  region: eu
models:
  timeout: 5m
`,
  ".env": "# secrets\nlimit=10\ntoken=abc\n",
  "sources/orders.yaml": `type: source
connector: local_file
path: data/orders.csv
`,
  "sources/customers.yaml": `type: source
connector: duckdb
sql: >
  SELECT id,
  name

  FROM 'data/customers.csv'
`,
  "models/daily.sql": `-- @materialize: true
SELECT date_trunc('day', o.ts) AS day,
  count(*) AS orders, 'größe 😀' AS note
FROM orders AS o
JOIN customers AS c ON o.customer = c.id
GROUP BY ALL
`,
  "models/top.sql": `SELECT *
FROM {{ ref "daily" }}
{{ if dev }}
WHERE orders > 1
{{ else }}
WHERE orders > 100
{{ end }}
LIMIT {{ .env.limit }}
`,
  "models/deep.yaml": `# A model
type: model
materialize: true
incremental: true
sql: |
  SELECT day,
    orders,
    '{{ .env.region }}' AS region
  FROM daily
  WHERE day > '{{ .state.last }}'
state:
  sql: "SELECT max(day) AS last,\\t1 AS x FROM deep"
refresh:
  cron: 0 6 * * *
  time_zone: Europe/Berlin
output:
  incremental_strategy: merge
  unique_key: [day]
tests:
  - name: positive
    assert: "orders >= 0 AND
      orders < 1000"
  - name: no gaps
    sql: SELECT * FROM daily WHERE day IS NULL
`,
};

interface Mutation {
  readonly path: string;
  readonly text: string;
  /** The position that the message must name, in the mutated text. */
  readonly at: number;
  readonly severity: "error" | "warning";
}

type Mutate = (pick: <T>(items: readonly T[]) => T) => Mutation;

function at(path: string, text: string, offset: number, severity: Mutation["severity"] = "error"): Mutation {
  return { path, text, at: offset, severity };
}

/** Replaces a part that occurs once in the file, and points to the replacement, or to a place in it. */
function swap(path: string, from: string, to: string, point = "", severity: Mutation["severity"] = "error"): Mutate {
  return () => {
    const start = GOOD[path]!.indexOf(from);
    if (start < 0 || GOOD[path]!.indexOf(from, start + 1) >= 0)
      throw new Error(`${from} does not stand in ${path} once`);
    return at(
      path,
      GOOD[path]!.replace(from, () => to),
      start + to.indexOf(point),
      severity,
    );
  };
}

/** Inserts a bracket before a random word of the SQL between two parts of a file, where it is always invalid. */
function bracket(path: string, first: string, last: string, severity: Mutation["severity"] = "error"): Mutate {
  return (pick) => {
    const text = GOOD[path]!;
    const from = text.indexOf(first);
    const sql = text.slice(from, text.indexOf(last, from) + last.length);
    // Text after a backslash is part of a YAML escape sequence, not a word.
    const isWord = (start: number): boolean => sql[start - 1] !== "\\";
    const words = tokensOf(sql).filter(({ type, start }, index) => index > 0 && type === "word" && isWord(start));
    const start = from + pick(words).start;
    return at(path, `${text.slice(0, start)}] ${text.slice(start)}`, start, severity);
  };
}

const MUTATIONS: readonly Mutate[] = [
  bracket("models/daily.sql", "SELECT", "GROUP BY ALL"),
  bracket("models/top.sql", "WHERE orders > 1\n", "1\n"),
  bracket("models/top.sql", "WHERE orders > 100", "100", "warning"),
  bracket("models/deep.yaml", "SELECT day,", "orders,"),
  bracket("models/deep.yaml", "FROM daily\n", "day >"),
  bracket("models/deep.yaml", "SELECT max(day)", "deep"),
  bracket("models/deep.yaml", "orders >= 0", "< 1000"),
  bracket("models/deep.yaml", "SELECT * FROM daily WHERE", "NULL"),
  bracket("sources/customers.yaml", "SELECT id", "FROM"),
  swap("models/daily.sql", "'größe 😀'", "'größe 😀"),
  swap("models/daily.sql", "GROUP BY ALL\n", "GROUP BY ALL; SELECT 2\n", "SELECT 2"),
  swap("models/daily.sql", "FROM orders", "FROM ordres", "ordres", "warning"),
  swap("models/daily.sql", "JOIN customers", "JOIN custmers", "custmers", "warning"),
  swap("models/daily.sql", "-- @materialize: true", "-- @materialize: often", "often"),
  swap("models/daily.sql", "-- @materialize: true", "-- @materialise: true", "materialise", "warning"),
  swap("models/top.sql", '"daily"', '"dayly"', '"dayly"'),
  swap("models/top.sql", "{{ end }}", "", ""),
  swap("models/top.sql", "{{ if dev }}", "{{ if dv }}", "dv"),
  swap("models/top.sql", ".env.limit", ".env.limt", ".env"),
  swap("models/top.sql", "{{ .env.limit }}", "{{ .env.limit", "{{"),
  swap("models/top.sql", "{{ .env.limit }}", "{{ upper | }}", "}}"),
  swap("models/deep.yaml", "'{{ .env.region }}'", "'{{ nonsense .env.region }}'", "nonsense"),
  swap("models/deep.yaml", "type: model", "type: modle", "modle"),
  swap("models/deep.yaml", "materialize: true", "materialize: [true]", "["),
  swap("models/deep.yaml", "materialize: true", "materialise: true", "materialise", "warning"),
  swap("models/deep.yaml", "incremental: true", "incremental: sometimes", "sometimes"),
  swap("models/deep.yaml", "incremental: true", "materialize: false", "materialize"),
  swap("models/deep.yaml", "0 6 * * *", "0 6 * *", "0"),
  swap("models/deep.yaml", "0 6 * * *", "0 25 * * *", "0"),
  swap("models/deep.yaml", "Europe/Berlin", "Europe/Bärlin", "Europe"),
  swap("models/deep.yaml", "cron: 0 6 * * *", "every: soon", "soon"),
  swap("models/deep.yaml", "merge\n", "marge\n", "marge"),
  swap("models/deep.yaml", "unique_key: [day]", "table: deep", ""),
  swap("models/deep.yaml", "name: positive", "nam: positive", "nam"),
  swap("models/deep.yaml", "- name: no gaps\n    sql: SELECT", "- name: no gaps\n    query: SELECT", "name"),
  swap("models/deep.yaml", "state:\n  sql:", "state:\n  query:", "query"),
  swap("models/deep.yaml", "refresh:\n", "refresh: daily\n", "daily"),
  swap("models/deep.yaml", "max(day) AS", "max(day AS", "AS"),
  swap("rill.yaml", "olap_connector", "olap_conector", "olap"),
  swap("rill.yaml", "models:\n", "modles:\n", "modles"),
  swap("rill.yaml", "  region: eu", "  region: [eu]", "["),
  swap("rill.yaml", "display_name: Shop", "display_name: { a: b }", "{"),
  swap(".env", "token=abc", "token abc", "token"),
  swap(".env", "token=abc", 'token="abc', "token"),
  swap("sources/orders.yaml", "type: source", "tipe: source\nkind: sorce", "sorce"),
  swap("sources/orders.yaml", "local_file", "local_fil", "local_fil"),
  swap("sources/orders.yaml", "path: data/orders.csv", "format: cvs\npath: data/orders.csv", "cvs"),
  swap("sources/orders.yaml", "path: data/orders.csv\n", "", ""),
  swap("sources/customers.yaml", "connector: duckdb", "connector: duckdb\nrefs: [model/nobody]", "model/nobody"),
  swap("sources/customers.yaml", "FROM 'data", "FRM 'data", "'data"),
];

/** Mutations whose position is that of a whole file, block or map. */
const PLACES: Readonly<Record<number, readonly [from: string, offset: number]>> = {
  16: ["{{ if dev }}", 0],
  32: ["incremental_strategy: ", 22],
  47: ["type:", 0],
};

const engine = new ParsingEngine();
afterAll(() => engine.close());

function placeIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `${lines.length}:${lines.at(-1)!.length + 1}`;
}

describe("a valid project with one mutation", () => {
  it("is valid to begin with", async () => {
    const folder = await ProjectFolder.create(engine, GOOD);
    const project = await folder.parse();
    expect(problemsIn(project)).toEqual([]);
    expect(project.resources).toHaveLength(5);
    await folder.remove();
  });

  it.each(MUTATIONS.map((mutate, index) => [index, mutate] as const))(
    "mutation %i is reported with its place",
    async (index, mutate) => {
      const random = seededRandom(Number(process.env.SETPOINT_SEED ?? 1) + index);
      const spoilt = mutate((items) => items[Math.floor(random.next() * items.length)]!);
      const special = PLACES[index];
      const offset = special ? spoilt.text.indexOf(special[0]) + special[1] : spoilt.at;
      const folder = await ProjectFolder.create(engine, GOOD);
      const parser = folder.parser();
      const good = await parser.parse();
      await folder.put({ [spoilt.path]: spoilt.text });
      const project = await parser.parse([spoilt.path]);
      const expected = `${spoilt.severity} ${spoilt.path}:${placeIn(spoilt.text, offset)}: `;
      const said = problemsIn(project);
      expect(
        said.filter((problem) => problem.startsWith(expected)),
        `${expected} among ${JSON.stringify(said)}`,
      ).toHaveLength(1);
      // Every resource still exists, or is reported as broken: no table would be dropped.
      const known = [...project.resources, ...project.broken].map(({ name }) => name.name).sort();
      expect(known).toEqual(good.resources.map(({ name }) => name.name).sort());
      expect(project.isFrozen).toBe(false);
      await folder.put({ [spoilt.path]: GOOD[spoilt.path]! });
      expect(await parser.parse([spoilt.path])).toEqual(good);
      await folder.remove();
    },
  );
});
