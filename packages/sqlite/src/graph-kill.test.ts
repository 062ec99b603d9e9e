import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtWorker, isBuilt, killRound, Worker } from "./graph-kill.testing.js";

const root = mkdtempSync(join(tmpdir(), "graph-kill-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(!isBuilt)("a graph in SQLite (needs the build)", () => {
  it("loses nothing when its process is killed, over and over", async () => {
    using worker = await builtWorker();
    for (const [seed, edits] of [1, 12, 40].entries()) await killRound(worker.file, join(root, "killed"), seed, edits);
  }, 60_000);

  it("stops the process whose session was superseded, which changes nothing any more", async () => {
    using worker = await builtWorker();
    const folder = join(root, "fenced");
    const older = new Worker(worker.file, folder, "edit", "1");
    await older.until("accepted", 10);
    const newer = new Worker(worker.file, folder, "rest");
    await newer.until("rest");
    expect(await older.ended).toBe(3);
    expect(older.of("stopped")).toEqual([{ type: "stopped", code: "GRAPH_FENCED" }]);
    const text = (specs: object | undefined) => JSON.stringify(Object.entries(specs ?? {}).sort());
    expect(older.possibleSpecs.map(text)).toContain(text(newer.of("open")[0]?.specs));
    const later = new Worker(worker.file, folder, "rest");
    await later.until("rest");
    expect(text(later.of("open")[0]?.specs)).toBe(text(newer.of("rest")[0]?.specs));
    expect([await newer.ended, await later.ended]).toEqual([0, 0]);
  }, 60_000);
});
