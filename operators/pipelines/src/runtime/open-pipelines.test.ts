import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FilesWorld } from "./files.testing.js";

describe("the database of a project", () => {
  it.each([
    ["nothing", {}, ".setpoint/main.duckdb"],
    [
      "the connector of olap_connector",
      {
        "setpoint.yaml": "olap_connector: own\n",
        "connectors/own.yaml": "type: connector\ndriver: duckdb\npath: x.db\n",
      },
      "x.db",
    ],
    [
      "a connector of the project file",
      { "setpoint.yaml": "connectors: [{ name: duckdb, type: duckdb, defaults: { path: x.db } }]\n" },
      "x.db",
    ],
    ["a variable", { ".env": "connector.duckdb.path=x.db\n" }, "x.db"],
    [
      "a connector in which nothing is built",
      { "connectors/own.yaml": "type: connector\ndriver: duckdb\npath: x.db\n" },
      ".setpoint/main.duckdb",
    ],
  ])("is where %s says", async (_, files, path) => {
    await using world = await FilesWorld.of({ "m.sql": "-- @materialize: true\nSELECT 1 AS a", ...files });
    await world.pipelines.waitUntilIdle();
    expect(await world.rows("FROM m")).toEqual([{ a: 1 }]);
    const places = ["x.db", ".setpoint/main.duckdb"].filter((one) => existsSync(join(world.path, one)));
    expect(places).toEqual([path]);
  });
});
