import { describe, expect, it } from "vitest";
import { FIXTURES, hasFixtures, ProjectFolder } from "./testing/project-folder.js";

const WIDTH = 10;
const nameOf = (at: number): string => `m${String(at).padStart(5, "0")}`;

/** Layers of ten tables, each from the one above it. */
function modelSql(at: number, offset = 0): string {
  const sql =
    at < WIDTH
      ? `SELECT range AS id, range * ${at + 1} + ${offset} AS v FROM range(10)`
      : `SELECT id, v + 1 + ${offset} AS v FROM ${nameOf(at - WIDTH)}`;
  return `-- @materialize: true\n${sql}\n`;
}

/** The sum of a model's rows, computed independently. */
const sumOf = (at: number, offset = 0): number => 45 * ((at % WIDTH) + 1) + 10 * (Math.floor(at / WIDTH) + offset);

/** A project of so many models: cold, one leaf edited, one root edited, restarted. */
export function testScale(count: number): void {
  describe(`a project of ${count} models`, { timeout: 900_000 }, () => {
    it("runs each once, then only what an edit affects, and nothing after a restart", async () => {
      using project = ProjectFolder.with(
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`models/${nameOf(at)}.sql`, modelSql(at)])),
      );
      const cold = await project.run();
      expect(cold, cold.err).toMatchObject({ code: 0, failed: [] });
      expect(cold.executed).toHaveLength(count);
      const sum = async (at: number) => (await project.rows(`SELECT sum(v)::BIGINT AS s FROM ${nameOf(at)}`))[0]?.s;
      const leaf = count - 1;
      expect(await sum(leaf)).toBe(sumOf(leaf));
      expect(await project.run()).toMatchObject({ code: 0, executed: [] });

      project.write(`models/${nameOf(leaf)}.sql`, modelSql(leaf, 5));
      expect(await project.run()).toMatchObject({ code: 0, executed: [nameOf(leaf)] });
      expect(await sum(leaf)).toBe(sumOf(leaf, 5));

      project.write(`models/${nameOf(0)}.sql`, modelSql(0, 3));
      const below = Array.from({ length: Math.ceil(count / WIDTH) }, (_, layer) => nameOf(layer * WIDTH));
      expect((await project.run()).executed).toEqual(below);
      const last = Math.floor((count - 1) / WIDTH) * WIDTH;
      expect(await sum(last)).toBe(sumOf(last, 3));
      expect(await project.run()).toMatchObject({ code: 0, executed: [] });
    });
  });
}

export function testAdBids(): void {
  it.skipIf(!hasFixtures)("AdBids, 100,000 rows (skipped where the reference material is absent)", async () => {
    using project = ProjectFolder.with({
      "sources/ad_bids.yaml": "type: source\nconnector: local_file\npath: data/AdBids.csv.gz\n",
      "sources/impressions.yaml": "type: source\nconnector: local_file\npath: data/AdImpressions.parquet\n",
      "models/by_publisher.sql":
        "-- @materialize: true\nSELECT publisher, count(*) AS bids FROM ad_bids GROUP BY publisher ORDER BY publisher",
    });
    project.copy(`${FIXTURES}data/AdBids.csv.gz`, "data/AdBids.csv.gz");
    project.copy(`${FIXTURES}data/AdImpressions.parquet`, "data/AdImpressions.parquet");
    expect(await project.run()).toMatchObject({ code: 0, executed: ["ad_bids", "by_publisher", "impressions"] });
    expect(await project.rows("SELECT count(*) AS n FROM ad_bids")).toEqual([{ n: 100_000 }]);
    expect(await project.rows("SELECT sum(bids)::INTEGER AS n FROM by_publisher")).toEqual([{ n: 100_000 }]);
    expect(await project.run()).toMatchObject({ executed: [] });
  });
}
