import type { Clock } from "setpoint/clock";
import { formatTime } from "setpoint/kinds";
import type { CommandStreams } from "./command-channels.js";
import type { ContainerFiles } from "./container-files.js";
import { parseShellLine } from "./shell-line.js";
import { terminalLines, textLines } from "./typed-lines.js";

/** What a command in a simulated container can access. */
export interface SimulatedMachine {
  readonly environment: ReadonlyMap<string, string>;
  readonly files: ContainerFiles;
  readonly clock: Clock;
  readonly isTty: boolean;
}

type Program = (args: readonly string[], container: SimulatedContainer) => Promise<number> | number;

const SHELLS = ["sh", "bash", "ash", "/bin/sh", "/bin/bash"];
const NOT_FOUND = 127;
const MISUSED = 2;

/** Runs a few common commands. Never starts a process. */
export class SimulatedContainer {
  readonly machine: SimulatedMachine;
  readonly streams: CommandStreams;
  #lastCode = 0;
  #hasExited = false;

  constructor(machine: SimulatedMachine, streams: CommandStreams) {
    this.machine = machine;
    this.streams = streams;
  }

  /** Runs a program and returns its exit code; undefined if there is no such program. */
  async run([name = "", ...args]: readonly string[]): Promise<number | undefined> {
    if (SHELLS.includes(name)) return this.#shell(args);
    const program = name.replace(/^(?:\/usr)?\/bin\//, "");
    return Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program]!(args, this) : undefined;
  }

  async #shell(args: readonly string[]): Promise<number> {
    const at = args.findIndex((arg) => /^-\w*c$/.test(arg));
    if (at >= 0) return this.#runLine(args[at + 1] ?? "");
    const { stdin } = this.streams;
    if (!this.machine.isTty) {
      for await (const line of textLines(stdin)) {
        await this.#runLine(line);
        if (this.#hasExited) break;
      }
      return this.#lastCode;
    }
    const say = (text: string): Promise<void> => this.streams.stdout(text);
    await say(PROMPT);
    for await (const line of terminalLines(stdin, say)) {
      await this.#runLine(line);
      if (this.#hasExited) return this.#lastCode;
      await say(PROMPT);
    }
    return this.#lastCode;
  }

  async #runLine(line: string): Promise<number> {
    try {
      for (const { when, words } of parseShellLine(line, (name) => this.#variable(name))) {
        if (when === "success" && this.#lastCode !== 0) continue;
        if (when === "failure" && this.#lastCode === 0) continue;
        this.#lastCode = await this.#runWords(words);
        if (this.#hasExited) break;
      }
    } catch (error) {
      await this.streams.stderr(`sh: ${error instanceof Error ? error.message : String(error)}\n`);
      this.#lastCode = MISUSED;
    }
    return this.#lastCode;
  }

  async #runWords(words: readonly string[]): Promise<number> {
    const [name = "", code] = words;
    if (name === "exit") {
      this.#hasExited = true;
      return code === undefined ? this.#lastCode : Number(code) & 0xff;
    }
    const exitCode = await this.run(words);
    if (exitCode !== undefined) return exitCode;
    await this.streams.stderr(`sh: ${name}: not found\n`);
    return NOT_FOUND;
  }

  #variable(name: string): string {
    return name === "?" ? String(this.#lastCode) : (this.machine.environment.get(name) ?? "");
  }
}

const PROMPT = "/ # ";

const PROGRAMS: Readonly<Record<string, Program>> = {
  true: () => 0,
  ":": () => 0,
  false: () => 1,
  echo: async (args, container) => {
    const hasNewline = args[0] !== "-n";
    await print(container, (hasNewline ? args : args.slice(1)).join(" ") + (hasNewline ? "\n" : ""));
    return 0;
  },
  env: async (_args, container) => {
    await print(container, [...container.machine.environment].map(([name, value]) => `${name}=${value}\n`).join(""));
    return 0;
  },
  printenv: async ([name], container) => {
    if (name === undefined) return PROGRAMS.env!([], container);
    const value = container.machine.environment.get(name);
    if (value !== undefined) await print(container, `${value}\n`);
    return value === undefined ? 1 : 0;
  },
  hostname: async (_args, container) => {
    await print(container, `${container.machine.environment.get("HOSTNAME")}\n`);
    return 0;
  },
  pwd: async (_args, container) => {
    await print(container, "/\n");
    return 0;
  },
  whoami: async (_args, container) => {
    await print(container, "root\n");
    return 0;
  },
  date: async (_args, container) => {
    await print(container, `${formatTime(container.machine.clock.now())}\n`);
    return 0;
  },
  sleep: async ([seconds = "0"], { machine, streams }) => {
    await machine.clock.sleep((Number(seconds) || 0) * 1_000, streams.signal);
    return 0;
  },
  cat: async (paths, container) => {
    const { machine, streams } = container;
    if (paths.length === 0) for await (const bytes of streams.stdin) await streams.stdout(bytes);
    let exitCode = 0;
    for (const path of paths) {
      const bytes = machine.files.read(path);
      if (bytes) await streams.stdout(bytes);
      else exitCode = await complain(container, machine.files.isFolder(path) ? IS_FOLDER : NO_FILE, "cat", path);
    }
    return exitCode;
  },
  ls: async (args, container) => {
    const { files } = container.machine;
    const [path = "/"] = args.filter((arg) => !arg.startsWith("-"));
    if (files.read(path)) await print(container, `${path}\n`);
    else if (!files.isFolder(path)) return complain(container, NO_FILE, "ls", path);
    else
      await print(
        container,
        files
          .list(path)
          .map((name) => `${name}\n`)
          .join(""),
      );
    return 0;
  },
  test: (args, { machine }) => (holds(args, machine.files) ? 0 : 1),
  "[": (args, { machine }) => (args.at(-1) !== "]" ? MISUSED : holds(args.slice(0, -1), machine.files) ? 0 : 1),
};

const NO_FILE = "No such file or directory";
const IS_FOLDER = "Is a directory";

function print({ streams }: SimulatedContainer, text: string): Promise<void> {
  return streams.stdout(text);
}

async function complain(container: SimulatedContainer, why: string, program: string, path: string): Promise<number> {
  await container.streams.stderr(`${program}: ${path}: ${why}\n`);
  return 1;
}

function holds(args: readonly string[], files: ContainerFiles): boolean {
  const [first = "", second = "", third = ""] = args;
  if (first === "!") return !holds(args.slice(1), files);
  switch (first) {
    case "-e":
      return files.read(second) !== undefined || files.isFolder(second);
    case "-f":
      return files.read(second) !== undefined;
    case "-d":
      return files.isFolder(second);
    case "-n":
      return second !== "";
    case "-z":
      return second === "";
  }
  if (second === "=" || second === "==") return first === third;
  return second === "!=" ? first !== third : first !== "";
}
