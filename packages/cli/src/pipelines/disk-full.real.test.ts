import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ProjectFolder } from "./testing/project-folder.js";

it.skipIf(process.getuid?.() !== 0)(
  "a full disk fails the run that needs space, keeps the last good table, and is no problem once there is space (needs root to mount a small disk)",
  { timeout: 120_000 },
  async () => {
    using project = ProjectFolder.with({ "models/a.sql": "-- @materialize: true\nSELECT range AS n FROM range(1000)" });
    const state = join(project.path, ".setpoint");
    mkdirSync(state, { mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=40m", "tmpfs", state]);
    try {
      expect(await project.run()).toMatchObject({ code: 0, executed: ["a"] });
      const ballast = join(state, "ballast");
      writeFileSync(ballast, Buffer.alloc(30 * 2 ** 20));
      project.write("models/a.sql", "-- @materialize: true\nSELECT random() AS n FROM range(5000000)");
      const full = await project.run();
      expect(full).toMatchObject({ code: 1, failed: ["a"] });
      rmSync(ballast);
      expect(await project.rows("SELECT count(*) AS n FROM a")).toEqual([{ n: 1000 }]);
      project.write("models/a.sql", "-- @materialize: true\nSELECT random() AS n FROM range(2000)");
      expect(await project.run()).toMatchObject({ code: 0, executed: ["a"] });
      expect(await project.rows("SELECT count(*) AS n FROM a")).toEqual([{ n: 2000 }]);
    } finally {
      execFileSync("umount", ["-l", state]);
    }
  },
);
