import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startOurs, startReal, type Target } from "../src/targets.js";

/** The result of a command line: its exit code and both streams, without values that differ between servers. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Side {
  readonly target: Target;
  readonly folder: string;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Runs command lines on the embedded control plane and on a real cluster, each in a folder with the same files. */
export class BothServers implements AsyncDisposable {
  readonly #ours: Side;
  readonly #real: Side;
  readonly #path: string;

  private constructor(ours: Side, real: Side, path: string) {
    this.#ours = ours;
    this.#real = real;
    this.#path = path;
  }

  static async start(files: Readonly<Record<string, string>>): Promise<BothServers> {
    const binaries = execFileSync(join(root, "tools/kubernetes/build"), { encoding: "utf8" }).trim();
    const [ours, real] = await Promise.all([startOurs(), startReal()]);
    const path = `${binaries}${delimiter}${process.env.PATH}`;
    return new BothServers(withFiles(ours, files), withFiles(real, files), path);
  }

  /** The result of the line on the embedded control plane, and on the real cluster. */
  async run(line: string): Promise<{ readonly ours: Outcome; readonly real: Outcome }> {
    const [ours, real] = await Promise.all([this.#runOn(this.#ours, line), this.#runOn(this.#real, line)]);
    return { ours, real };
  }

  #runOn({ target, folder }: Side, line: string): Promise<Outcome> {
    const env = {
      PATH: this.#path,
      HOME: folder,
      KUBECONFIG: target.kubeconfig,
      KUBECACHEDIR: join(folder, "cache"),
      TMPDIR: folder,
    };
    return new Promise((resolve) => {
      const options = { cwd: folder, env, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 };
      execFile("bash", ["-c", line], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout: comparable(stdout, target, folder), stderr: comparable(stderr, target, folder) });
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { target, folder } of [this.#ours, this.#real]) {
      await target[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function withFiles(target: Target, files: Readonly<Record<string, string>>): Side {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-clients-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  }
  return { target, folder };
}

/**
 * kubectl's log line when its own timeout of a second ends a watch: whether that happens within the second is random.
 */
const SHORT_WATCH = /^I\d{4} [\d:.]+ +\d+ reflector\.go:\d+\] .*very short watch.*\n/gm;

/** Removes values from a text that differ between two servers without a difference in meaning. */
function comparable(text: string, target: Target, folder: string): string {
  return text
    .replaceAll(SHORT_WATCH, "")
    .replaceAll(target.endpoint.url, "<server>")
    .replaceAll(folder, "<folder>")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replaceAll(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} [+-]\d{4}/g, "<time>")
    .replaceAll(/(resourceVersion"?: "?|Resource Version: +)\d+/g, "$1<version>")
    .replaceAll(/(?<=LIVE-|MERGED-)\d+/g, "<number>")
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<token>")
    .replaceAll(/\b(\d+[dhms])+\b(?= *$| {2,})/gm, "<age>")
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/ {2,}/g, "  ");
}
