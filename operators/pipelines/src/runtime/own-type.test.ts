import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { graphKind } from "setpoint/graph";
import { expect, it } from "vitest";
import { fileKind } from "../project/file-kind.js";
import { faultAt } from "../project/problem-error.js";
import { textAt } from "../project/setting.js";
import { openPipelines } from "./open-pipelines.js";
import type { Pipelines } from "./pipelines.js";
import { explanationView } from "./resource-view.js";

interface ExportSpec {
  readonly table: string;
  readonly path: string;
}

/** A custom type of resource: writes a table to a file whenever the table has new rows. */
function exportType(folder: string, open: () => Pipelines) {
  const runs: string[] = [];
  const file = fileKind({
    type: "export",
    kind: "Export",
    directories: ["exports"],
    parse({ settings, place }) {
      const [table, path] = [textAt(settings, "table")?.text, textAt(settings, "path")?.text];
      if (!table || !path) throw faultAt(place, 'an export needs "table" and "path"');
      return { spec: { table, path }, refs: [{ name: table, type: "model", place }] };
    },
  });
  const kind = graphKind<ExportSpec>({
    name: "Export",
    whenRefsFinish: "changed",
    async reconcile({ meta, spec }, ctx) {
      ctx.requireRefs();
      runs.push(meta.name.name);
      const { rows } = await open().query(`FROM "${spec.table}"`, { signal: ctx.signal });
      await ctx.effect("write", () => writeFile(join(folder, spec.path), JSON.stringify(rows)));
    },
    remove: ({ spec }) => rmSync(join(folder, spec.path), { force: true }),
  });
  return { runs, file, kind };
}

it("a custom type of resource has files, refs, causes and removal, without a change of the parser", async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-own-type-"));
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("setpoint.yaml", "olap_connector: duckdb\n");
  write("models/orders.sql", "-- @materialize: true\nSELECT 1 AS id");
  write("exports/orders_file.yaml", "table: orders\npath: orders.json\n");
  let pipelines!: Pipelines;
  const own = exportType(folder, () => pipelines);
  try {
    pipelines = await openPipelines(folder, { kinds: [own.kind], fileKinds: [own.file] });
    await using _ = pipelines;
    await pipelines.waitUntilIdle();
    expect(pipelines.project.problems).toEqual([]);
    expect(readFileSync(join(folder, "orders.json"), "utf8")).toBe('[{"id":1}]');
    expect(pipelines.resource("orders_file").meta.refs).toEqual([{ kind: "Model", name: "orders" }]);

    // Equal rows trigger nothing; new ones do.
    write("models/orders.sql", "-- @materialize: true\nSELECT 2 - 1 AS id");
    await pipelines.reread(["models/orders.sql"]);
    await pipelines.waitUntilIdle();
    expect(own.runs).toEqual(["orders_file"]);
    write("models/orders.sql", "-- @materialize: true\nSELECT 2 AS id");
    await pipelines.reread(["models/orders.sql"]);
    await pipelines.waitUntilIdle();
    expect(own.runs).toEqual(["orders_file", "orders_file"]);
    expect(readFileSync(join(folder, "orders.json"), "utf8")).toBe('[{"id":2}]');
    expect(explanationView(pipelines, "Export/orders_file").reason).toContain("ref Model/orders finished");

    write("exports/orders_file.yaml", "path: orders.json\n");
    await pipelines.reread(["exports/orders_file.yaml"]);
    await pipelines.waitUntilIdle();
    expect(pipelines.project.problems).toMatchObject([
      { severity: "error", message: 'an export needs "table" and "path"', place: { path: "exports/orders_file.yaml" } },
    ]);
    expect(existsSync(join(folder, "orders.json"))).toBe(true);

    rmSync(join(folder, "exports"), { recursive: true });
    await pipelines.reread(["exports/orders_file.yaml"]);
    await pipelines.waitUntilIdle();
    expect(existsSync(join(folder, "orders.json"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
