import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { systemClock } from "setpoint/clock";
import { afterAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const guide = readFileSync(join(root, "docs/guide.md"), "utf8");
/** Within the workspace, so that the files resolve the built packages, as for a user. */
const folder = mkdtempSync(join(root, "examples/dist/guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The code that the guide saves under this name. */
function saved(name: string): string {
  const [, after = ""] = guide.split(`Save this as \`${name}\``);
  return /```ts \S+\n(.*?)```/s.exec(after)![1]!;
}

/** The terminal lines of the section on running it, in order. */
function terminals(): readonly (readonly string[])[] {
  const section = guide.split(/^## /m).find((text) => text.startsWith("3. Run it")) ?? "";
  return [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text]) => text!.trimEnd().split("\n"));
}

function environment(): NodeJS.ProcessEnv {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "npx"), `#!/bin/sh\nname=$1; shift; exec "${root}node_modules/.bin/$name" "$@"\n`);
  chmodSync(join(bin, "npx"), 0o755);
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_|TEST$|KUBECONFIG)/.test(name));
  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries(own), PATH: path };
}

/** A command that runs until it is stopped. */
class Terminal implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  output = "";

  constructor(line: string, env: NodeJS.ProcessEnv) {
    this.#process = spawn("sh", ["-c", `exec env ${line}`], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on("data", (chunk) => {
        this.output += String(chunk);
      });
    }
    this.#ended = new Promise((resolve) => this.#process.once("exit", resolve));
  }

  async says(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      if (this.#process.exitCode !== null) throw new Error(`it ended: ${this.output}`);
      await systemClock.sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Keeps `node FILE.ts` if Node supports TypeScript; otherwise compiles the file, where the guide recommends tsx. */
async function asNodeRunsIt(line: string): Promise<string> {
  if ((process.features as { typescript?: unknown }).typescript) return line;
  const bundle = await rolldown({ input: join(folder, "greetings.ts"), external: ["setpoint", "zod"] });
  await bundle.write({ file: join(folder, "greetings.mjs"), format: "esm" });
  await bundle.close();
  return line.replace("node greetings.ts", "node greetings.mjs");
}

it("the guide can be followed line by line", async () => {
  for (const name of ["greetings.ts", "greetings.test.ts"]) writeFileSync(join(folder, name), saved(name));
  // A reader's folder has no workspace above it whose configuration would apply.
  writeFileSync(join(folder, "vitest.config.mjs"), "export default {};\n");
  const env = environment();
  const metrics = `127.0.0.1:${await freePort()}`;
  const sh = async (...lines: readonly string[]): Promise<string> => {
    const script = lines.join("\n").replace("127.0.0.1:8080", metrics);
    return (await promisify(execFile)("sh", ["-ec", script], { cwd: folder, env })).stdout;
  };

  const [[plane], [kubeconfig, install, loop], [, create, get, why]] = terminals() as [string[], string[], string[]];
  await using server = new Terminal(`${plane} --listen 127.0.0.1:0`, env);
  await server.says("ready");

  expect(await sh(kubeconfig!, install!)).toContain("greetings.example.com ready");
  const started = (await asNodeRunsIt(loop!)).replace("127.0.0.1:8080", metrics);
  await using operator = new Terminal(`KUBECONFIG=.setpoint/kubeconfig ${started}`, env);
  await operator.says('"message":"started"');

  expect(await sh(kubeconfig!, create!)).toContain("hello created");
  while (!(await sh(kubeconfig!, get!)).includes("text: Hello, Ann!")) await systemClock.sleep(50);
  expect(await sh(kubeconfig!, why!)).toMatch(/created\n\s+wrote\s+status .*: status.text/);

  expect(await sh("npx vitest run")).toContain("1 passed");
}, 120_000);
