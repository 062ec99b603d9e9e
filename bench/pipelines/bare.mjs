// The same tables on bare DuckDB: each in a transaction with its checksum and a stamp, on four connections.
import { DuckDBInstance } from "@duckdb/node-api";
import { modelSql, nameOf } from "./projects.mjs";

const [path, count] = [process.argv[2], Number(process.argv[3])];
const CONNECTIONS = Number(process.env.BARE_CONNECTIONS ?? 4);

const instance = await DuckDBInstance.create(path);
const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => instance.connect()));
await connections[0].run("CREATE TABLE stamps (name VARCHAR, version VARCHAR, row_count BIGINT, run VARCHAR)");

// Ten tables per layer; a table is built when the one above it exists.
const done = Array.from({ length: count }, () => undefined);
const finished = Array.from({ length: count }, (_, at) => new Promise((resolve) => (done[at] = resolve)));
let next = 0;
await Promise.all(
  connections.map(async (connection) => {
    for (let at = next++; at < count; at = next++) {
      if (at >= 10) await finished[at - 10];
      const name = nameOf(at);
      await connection.run("BEGIN");
      await connection.run(`CREATE OR REPLACE TABLE ${name} AS ${modelSql(at, (ref) => ref)}`);
      await connection.run(
        `INSERT INTO stamps SELECT '${name}', sum(hash(t)::HUGEINT)::VARCHAR, count(*), 'run' FROM ${name} t`,
      );
      await connection.run("COMMIT");
      done[at]();
    }
  }),
);
instance.closeSync?.();
