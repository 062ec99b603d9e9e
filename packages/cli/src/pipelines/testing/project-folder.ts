import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Process } from "../../main.js";
import { type Ran, runMain } from "../../testing/command-line.js";

/** The built command, as it is installed. */
const BIN = fileURLToPath(new URL("../../../../setpoint/bin/setpoint.js", import.meta.url));

/** What the reference material holds for tests; not part of the project. */
export const FIXTURES = fileURLToPath(new URL("../../../../../../shared/fixtures/pipelines/", import.meta.url));

export const hasFixtures = existsSync(FIXTURES);

export interface RunSummary {
  readonly executed: readonly string[];
  readonly settled: readonly string[];
  readonly failed: readonly string[];
}

/** A project in a folder of its own, which is removed, and the command line on it. */
export class ProjectFolder implements Disposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** A project file is added where there is none. */
  static with(files: Readonly<Record<string, string>>): ProjectFolder {
    const folder = new ProjectFolder(mkdtempSync(join(tmpdir(), "setpoint-pipelines-")));
    if (!("rill.yaml" in files || "setpoint.yaml" in files)) folder.write("setpoint.yaml", "olap_connector: duckdb\n");
    for (const [path, text] of Object.entries(files)) folder.write(path, text);
    return folder;
  }

  write(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    writeFileSync(join(this.path, path), text);
  }

  copy(from: string, path: string): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    copyFileSync(from, join(this.path, path));
  }

  remove(path: string): void {
    rmSync(join(this.path, path), { recursive: true });
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.path, to)), { recursive: true });
    renameSync(join(this.path, from), join(this.path, to));
  }

  /** `setpoint pipelines COMMAND FOLDER ARGS…` in this process. */
  say(command: string, args: readonly string[] = [], more: Partial<Process> = {}): Promise<Ran> {
    return runMain(["pipelines", command, this.path, ...args], more);
  }

  /** `run -o json`; `code` and `err` beside what it printed. */
  async run(args: readonly string[] = []): Promise<RunSummary & { readonly code: number; readonly err: string }> {
    const { code, out, err } = await this.say("run", ["-o", "json", ...args]);
    if (out === "") throw new Error(`run printed nothing and ended with ${code}:\n${err}`);
    return { ...(JSON.parse(out) as RunSummary), code, err };
  }

  /** The rows of a query on what was built. */
  async rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { code, out, err } = await this.say("query", ["--sql", sql, "-o", "json"]);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as readonly Readonly<Record<string, unknown>>[];
  }

  /** What somebody else does to the tables while no process of ours runs. */
  async byHand(sql: string): Promise<void> {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(join(this.path, ".setpoint", "main.duckdb"));
    const connection = await instance.connect();
    try {
      for (const statement of sql.split(";")) await connection.run(statement);
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  /** The built command in a process of its own. */
  spawn(command: string, args: readonly string[] = []): CommandProcess {
    return new CommandProcess(spawn(process.execPath, [BIN, "pipelines", command, this.path, ...args]));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A command that runs beside the test. Killed at the latest when it is disposed. */
export class CommandProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  out = "";
  err = "";

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout!.on("data", (chunk) => (this.out += chunk));
    child.stderr!.on("data", (chunk) => (this.err += chunk));
    this.ended = new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}
