import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { transformWithOxc } from "vite";
import { expect } from "vitest";
import { contentOf } from "./graph-worker.testing.js";

type Specs = Readonly<Record<string, { readonly value: number; readonly refs: readonly string[] }>>;

interface Message {
  readonly type: "open" | "try" | "accepted" | "rest" | "stopped";
  readonly specs?: Specs;
  readonly statuses?: Readonly<Record<string, string>>;
  readonly deleted?: number;
  readonly code?: string;
}

const built = new URL("../dist/", import.meta.url);

/** Whether there is a build, which the workers need. */
export const isBuilt = existsSync(new URL("graph-store.js", built));

/** Writes the worker as JavaScript, beside the build that it imports. */
export async function builtWorker(): Promise<{ readonly file: string } & Disposable> {
  const source = readFileSync(new URL("graph-worker.testing.ts", import.meta.url), "utf8");
  const { code } = await transformWithOxc(source, "graph-worker.testing.ts");
  const folder = mkdtempSync(new URL("worker-", built).pathname);
  const file = join(folder, "worker.js");
  writeFileSync(file, code.replace("./graph-store.js", "../graph-store.js"));
  return { file, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A worker process, with its messages so far. */
export class Worker {
  readonly messages: Message[] = [];
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #listeners = new Set<() => void>();
  #errors = "";

  constructor(program: string, folder: string, ...args: readonly string[]) {
    this.#process = spawn(process.execPath, [program, folder, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.#process.stderr!.on("data", (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    createInterface({ input: this.#process.stdout! }).on("line", (line) => {
      this.messages.push(JSON.parse(line) as Message);
      for (const listener of this.#listeners) listener();
    });
    this.ended = new Promise((resolve) => {
      this.#process.once("close", (code) => {
        resolve(code);
        for (const listener of this.#listeners) listener();
      });
    });
  }

  /** Resolves after so many messages of a type; rejects if it ends before. */
  until(type: Message["type"], count = 1): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.of(type).length >= count) resolve();
        else if (this.#process.exitCode !== null) reject(new Error(`the worker ended: ${this.#errors}`));
        else return;
        this.#listeners.delete(look);
      };
      this.#listeners.add(look);
      look();
    });
  }

  of(type: Message["type"]): readonly Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }

  /** The possible content of the graph after it: the last accepted edit, or a later one that was not acknowledged. */
  get possibleSpecs(): readonly Specs[] {
    let accepted = this.of("open")[0]?.specs ?? {};
    let tried: Specs | undefined;
    for (const { type, specs } of this.messages) {
      if (type === "try") tried = specs;
      if (type !== "accepted" || !tried) continue;
      accepted = tried;
      tried = undefined;
    }
    return tried ? [accepted, tried] : [accepted];
  }
}

/**
 * Kills a process that edits and runs, then lets another one come to rest: no accepted edit is lost, and nothing is
 * half done.
 */
export async function killRound(program: string, folder: string, seed: number, edits: number): Promise<void> {
  const worker = new Worker(program, folder, "edit", String(seed));
  await worker.until("accepted", edits);
  await worker.kill();
  const { specs, statuses, deleted } = await rested(program, folder);
  expect(worker.possibleSpecs.map(canonical), `seed ${seed}`).toContain(canonical(specs));
  expect(deleted).toBe(0);
  expectWorld(folder, specs, statuses);
  const runs = runsIn(folder);
  await rested(program, folder);
  expect(runsIn(folder), "runs after a restart at rest").toBe(runs);
}

/** Opens the graph in a separate process until it is at rest. */
async function rested(
  program: string,
  folder: string,
): Promise<Required<Pick<Message, "specs" | "statuses" | "deleted">>> {
  const worker = new Worker(program, folder, "rest");
  await worker.until("rest");
  expect(await worker.ended).toBe(0);
  return worker.of("rest")[0] as Required<Message>;
}

/** Every table has the content of a fresh run, and there are no others. */
function expectWorld(folder: string, specs: Specs, statuses: Readonly<Record<string, string>>): void {
  const isCyclic = (name: string) => statuses[name] === "cyclic";
  const outputOf = (name: string): string => {
    const spec = specs[name];
    if (!spec) return "absent";
    return isCyclic(name) ? "failed" : contentOf(spec.value, spec.refs.map(outputOf));
  };
  const files = readdirSync(join(folder, "world"));
  expect(files.filter((name) => !specs[name])).toEqual([]);
  for (const name of Object.keys(specs).filter((each) => !isCyclic(each))) {
    expect(readFileSync(join(folder, "world", name), "utf8"), name).toBe(outputOf(name));
  }
}

function canonical(specs: Specs): string {
  return JSON.stringify(Object.entries(specs).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function runsIn(folder: string): number {
  const file = join(folder, "runs.log");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}
