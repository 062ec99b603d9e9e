import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { seededRandom } from "setpoint/clock";
import type { GraphResource } from "setpoint/graph";
import { VirtualClock } from "setpoint/testing";
import type { ModelState } from "../model/model-state.js";
import { openPipelines } from "./open-pipelines.js";
import type { Pipelines } from "./pipelines.js";
import { type RefreshOrder, refresh } from "./refresh.js";

/** A folder of files with its whole pipeline, on DuckDB and under a virtual clock. */
export class FilesWorld implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "setpoint-files-"));
  readonly clock = new VirtualClock(Date.UTC(2024, 0, 1));
  readonly #random = seededRandom(1);
  pipelines!: Pipelines;

  static async of(files: Readonly<Record<string, string>>): Promise<FilesWorld> {
    const world = new FilesWorld();
    world.write({ "setpoint.yaml": "", ...files });
    await world.open();
    return world;
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, path)), { recursive: true });
      writeFileSync(join(this.path, path), text);
    }
  }

  move(from: string, to: string): void {
    renameSync(join(this.path, from), join(this.path, to));
  }

  remove(path: string): void {
    rmSync(join(this.path, path));
  }

  async open(): Promise<void> {
    this.pipelines = await openPipelines(this.path, { clock: this.clock });
  }

  /** Closes the project and opens it again on the same data. */
  async restart(): Promise<void> {
    await this.pipelines[Symbol.asyncDispose]();
    await this.open();
    await this.pipelines.waitUntilIdle();
  }

  /** Reads the given files, or all, and waits for the consequences. */
  async settle(files: Readonly<Record<string, string>> = {}): Promise<void> {
    this.write(files);
    await this.pipelines.reread();
    await this.pipelines.waitUntilIdle();
  }

  async refresh(name: string, order: Partial<RefreshOrder> = {}): Promise<void> {
    await refresh(
      this.pipelines,
      { names: [name], full: false, partitions: [], preview: false, ...order },
      this.#random,
    );
    await this.pipelines.waitUntilIdle();
  }

  resource(name: string): GraphResource | undefined {
    return this.pipelines.graph.get({ kind: "Model", name });
  }

  state(name: string): ModelState | undefined {
    return this.resource(name)?.state as ModelState | undefined;
  }

  error(name: string): string | undefined {
    return this.resource(name)?.error?.message;
  }

  async rows(sql: string): Promise<readonly unknown[]> {
    return (await this.pipelines.query(sql)).rows;
  }

  async count(table: string): Promise<unknown> {
    return ((await this.rows(`SELECT count(*) AS n FROM ${table}`))[0] as { readonly n: number }).n;
  }

  async tables(): Promise<readonly string[]> {
    return (await this.pipelines.engine.inspect()).map(({ table }) => table).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pipelines[Symbol.asyncDispose]();
    rmSync(this.path, { recursive: true, force: true });
  }
}
