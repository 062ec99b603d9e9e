import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sourceText } from "../project/source-text.js";
import { modelSpec, modelWorld } from "./model.testing.js";

const ROOT = "/usr/lib/postgresql";
const version = existsSync(ROOT) ? readdirSync(ROOT).sort().at(-1) : undefined;

describe.skipIf(version === undefined)("models on PostgreSQL (needs postgresql in /usr/lib)", () => {
  let url = "";
  let stop = (): void => {};

  beforeAll(async () => {
    const bin = join(ROOT, version!, "bin");
    const folder = mkdtempSync(join(tmpdir(), "pipelines-postgres-"));
    const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    const user = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {};
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
    const options = { cwd: folder, stdio: "ignore", ...user } as const;
    execFileSync(join(bin, "initdb"), ["-D", "data", "-U", "reader", "--auth=trust", "--no-sync"], options);
    const port = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, "127.0.0.1", () => {
        const { port: free } = probe.address() as { port: number };
        probe.close(() => resolve(free));
      });
    });
    const server = spawn(
      join(bin, "postgres"),
      ["-D", "data", "-p", String(port), "-h", "127.0.0.1", "-k", folder, "-F"],
      options,
    );
    url = `postgres://reader@127.0.0.1:${port}/postgres`;
    stop = () => {
      server.once("exit", () => rmSync(folder, { recursive: true, force: true }));
      server.kill("SIGINT");
    };
    for (let tries = 0; tries < 300; tries++) {
      if (
        await statement("SELECT 1").then(
          () => true,
          () => false,
        )
      )
        return;
      await systemClock.sleep(100);
    }
  });

  afterAll(() => stop());

  async function statement(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }

  it("copies rows with their types; NULL and an empty string differ", async () => {
    await statement(`CREATE TABLE orders AS SELECT 1 AS id, 12.50::numeric(10, 2) AS amount, true AS paid, NULL::text AS note,
      '2024-01-02 03:04:05'::timestamp AS made, '{"a": 1}'::jsonb AS body
      UNION ALL SELECT 2, NULL::numeric(10, 2), false, '', NULL, NULL UNION ALL SELECT 3, 1::numeric(10, 2), NULL, 'a "b", c' || chr(10) || 'd', NULL, NULL`);
    await using world = await modelWorld({ connectors: () => ({ driver: "postgres", properties: { dsn: url } }) });
    const sql = sourceText("models/orders.yaml", "SELECT * FROM orders;");
    await world.put(modelSpec("orders", "", { input: { type: "postgres", connector: "pg", sql } }));
    expect(world.error("orders")).toBeUndefined();
    expect(await world.rows("SELECT id, amount, paid, note, made FROM orders ORDER BY id")).toEqual([
      { id: 1, amount: 12.5, paid: true, note: null, made: "2024-01-02T03:04:05Z" },
      { id: 2, amount: null, paid: false, note: "", made: null },
      { id: 3, amount: 1, paid: null, note: 'a "b", c\nd', made: null },
    ]);
    expect(world.state("orders")?.columns?.map(({ type }) => type)).toEqual([
      "INTEGER",
      "DECIMAL(10,2)",
      "BOOLEAN",
      "VARCHAR",
      "TIMESTAMP",
      "VARCHAR",
    ]);
    expect(readdirSync(join(world.folder, ".setpoint", "cache", "postgres"))).toEqual([]);
  });

  it("names the server's error, and keeps the last good table", async () => {
    await using world = await modelWorld({ connectors: () => ({ driver: "postgres", properties: { dsn: url } }) });
    const spec = (sql: string) =>
      modelSpec("t", sql, { input: { type: "postgres", connector: "pg", sql: sourceText("models/t.yaml", sql) } });
    await world.put(spec("SELECT 1 AS a"));
    await world.put(spec("SELECT * FROM nowhere"));
    expect(world.error("t")).toMatch(/PostgreSQL: relation "nowhere" does not exist/);
    expect(await world.rows("FROM t")).toEqual([{ a: 1 }]);
  });

  it("is aborted by its signal while the server works", async () => {
    await using world = await modelWorld({ connectors: () => ({ driver: "postgres", properties: { dsn: url } }) });
    const sql = sourceText("models/t.yaml", "SELECT 1 AS a FROM pg_sleep(600)");
    const spec = modelSpec("t", "slow", { input: { type: "postgres", connector: "pg", sql } });
    world.graph.create({ name: { kind: "Model", name: "t" }, spec }).catch(() => {});
    await expect.poll(() => world.graph.get({ kind: "Model", name: "t" })?.status).toBe("running");
    await systemClock.sleep(300);
    await world.graph.delete({ kind: "Model", name: "t" });
    expect(await world.engine.inspect()).toEqual([]);
  });
});
