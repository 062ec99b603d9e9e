// One project in the syntax of each side: layers of ten tables, each of 1,000 rows, each from the one above it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const ROWS = 1_000;
const WIDTH = 10;

/** `offset` simulates an edit. */
export function modelSql(at, refOf, offset = 0) {
  if (at < WIDTH) return `SELECT range AS id, range * ${at + 1} + ${offset} AS v FROM range(${ROWS})`;
  return `SELECT id, v + 1 + ${offset} AS v FROM ${refOf(nameOf(at - WIDTH))}`;
}

export function nameOf(at) {
  return `m${String(at).padStart(4, "0")}`;
}

export function writeSetpoint(folder, count) {
  mkdirSync(join(folder, "models"), { recursive: true });
  writeFileSync(join(folder, "setpoint.yaml"), "olap_connector: duckdb\nmodels:\n  materialize: true\n");
  for (let at = 0; at < count; at++) writeSetpointModel(folder, at);
}

export function writeSetpointModel(folder, at, offset) {
  writeFileSync(join(folder, "models", `${nameOf(at)}.sql`), `${modelSql(at, (name) => name, offset)}\n`);
}

export function writeDbt(folder, count) {
  mkdirSync(join(folder, "models"), { recursive: true });
  const project = { name: "bench", version: "1.0", profile: "bench", models: { bench: { "+materialized": "table" } } };
  writeFileSync(join(folder, "dbt_project.yml"), JSON.stringify(project));
  const target = { type: "duckdb", path: join(folder, "dbt.duckdb"), threads: 4 };
  writeFileSync(
    join(folder, "profiles.yml"),
    JSON.stringify({
      config: { send_anonymous_usage_stats: false },
      bench: { target: "dev", outputs: { dev: target } },
    }),
  );
  for (let at = 0; at < count; at++) writeDbtModel(folder, at);
}

export function writeDbtModel(folder, at, offset) {
  const sql = modelSql(at, (name) => `{{ ref('${name}') }}`, offset);
  writeFileSync(join(folder, "models", `${nameOf(at)}.sql`), `${sql}\n`);
}

export function writeSqlmesh(folder, count) {
  mkdirSync(join(folder, "models"), { recursive: true });
  const connection = { type: "duckdb", database: join(folder, "mesh.duckdb"), concurrent_tasks: 4 };
  const config = {
    gateways: { local: { connection } },
    default_gateway: "local",
    model_defaults: { dialect: "duckdb", start: "2026-01-01" },
    disable_anonymized_analytics: true,
  };
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
  for (let at = 0; at < count; at++) writeSqlmeshModel(folder, at);
}

export function writeSqlmeshModel(folder, at, offset) {
  const sql = modelSql(at, (name) => `bench.${name}`, offset);
  const head = `MODEL (name bench.${nameOf(at)}, kind FULL, cron '@daily');\n\n`;
  writeFileSync(join(folder, "models", `${nameOf(at)}.sql`), `${head}${sql}\n`);
}
