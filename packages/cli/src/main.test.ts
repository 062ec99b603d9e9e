import { parseArgs } from "node:util";
import { type Command, type CommandContext, type CommandGroup, UsageError } from "setpoint/command";
import { describe, expect, it } from "vitest";
import { commands } from "./commands.js";
import { commandHelp } from "./help.js";
import { main } from "./main.js";
import { parseArgsOptions } from "./option-values.js";

const run = async (args: readonly string[], table?: readonly (Command | CommandGroup)[]) => {
  const [out, err]: [string[], string[]] = [[], []];
  const process = {
    env: {},
    stdout: (line: string) => void out.push(line),
    stderr: (line: string) => void err.push(line),
    stdin: async () => "",
    terminal: undefined,
    signal: new AbortController().signal,
  };
  const code = await main(args, process, table);
  return { code, out: out.join("\n"), err: err.join("\n") };
};

const command = (work: (context: CommandContext) => Promise<number>): Command => ({
  name: "greet",
  summary: "Greets.",
  usage: "[options] NAME",
  options: {
    loud: { type: "boolean", short: "l", description: "with an exclamation mark" },
    word: { type: "string", placeholder: "WORD", description: "the greeting", default: "hello" },
  },
  allowsPositionals: true,
  examples: [{ text: "greet the world", command: "setpoint greet world" }],
  load: async () => work,
});

const greet = command(async ({ values, positionals, stdout }) => {
  stdout(`${values.word} ${positionals[0]}${values.loud ? "!" : ""}`);
  return 0;
});

/** Every command, with its group. */
const paths = commands.flatMap((entry) =>
  "commands" in entry
    ? entry.commands.map((each) => ({ path: `${entry.name} ${each.name}`, command: each }))
    : [{ path: entry.name, command: entry }],
);

describe("the command line", () => {
  it("gives a command its options, defaults and arguments", async () => {
    expect(await run(["greet", "world", "-l"], [greet])).toMatchObject({ code: 0, out: "hello world!" });
    expect(await run(["greet", "world", "--word", "bye"], [greet])).toMatchObject({ code: 0, out: "bye world" });
  });

  it("shows the commands, and the options of one with examples", async () => {
    expect((await run(["--help"], [greet])).out).toContain("greet  Greets.");
    const { code, out } = await run(["greet", "--help"], [greet]);
    expect(code).toBe(0);
    expect(out).toContain("Usage: setpoint greet [options] NAME");
    expect(out).toMatch(/-l, --loud +with an exclamation mark/);
    expect(out).toMatch(/--word WORD +the greeting \(default: hello\)/);
    expect(out).toContain("setpoint greet world");
  });

  it("refuses unknown commands and options with exit code 2 and a hint", async () => {
    expect(await run(["dance"], [greet])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no command "dance"'),
    });
    expect(await run([], [greet])).toMatchObject({ code: 2 });
    const unknown = await run(["greet", "--loudly"], [greet]);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("--loudly") });
    expect(unknown.err).toContain("setpoint greet --help");
  });

  it("prints errors of a command, and distinguishes wrong usage from failure", async () => {
    const misused = command(async () => {
      throw new UsageError("too early");
    });
    expect(await run(["greet"], [misused])).toMatchObject({ code: 2, err: expect.stringContaining("too early") });
    const failing = command(async () => {
      throw new Error("no voice");
    });
    expect(await run(["greet"], [failing])).toMatchObject({ code: 1, err: expect.stringContaining("no voice") });
  });

  it("runs a command of a group, and lists the commands of a group", async () => {
    const group: CommandGroup = { name: "people", summary: "Talks to people.", commands: [greet] };
    expect(await run(["people", "greet", "world"], [group])).toMatchObject({ code: 0, out: "hello world" });
    expect((await run(["people", "--help"], [group])).out).toMatch(/Talks to people\..*greet {2}Greets\./s);
    expect((await run(["people", "greet", "--help"], [group])).out).toContain("Usage: setpoint people greet [options]");
    expect(await run(["people"], [group])).toMatchObject({ code: 2, out: expect.stringContaining("greet") });
    const unknown = await run(["people", "insult"], [group]);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('expected one of greet, not "insult"') });
    const wrong = await run(["people", "greet", "--loudly"], [group]);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("setpoint people greet --help") });
  });

  it("describes each of its commands with an example", async () => {
    for (const { path, command } of paths) {
      expect(command.examples.length).toBeGreaterThan(0);
      expect((await run([...path.split(" "), "--help"])).out).toContain(`Usage: setpoint ${path}`);
    }
  });
});

it.each(paths)("$path --help has an example and exit codes, and documents -o for scripts", ({ path, command }) => {
  const help = commandHelp(command, path);
  expect(help).toContain("Examples:");
  expect(help).toContain("Exit codes:");
  expect(command.options.output).toMatchObject({ type: "string", short: "o" });
});

it.each(paths)("$path accepts the options of its examples", ({ path, command: { options, examples } }) => {
  const calls = examples.flatMap(({ command }) => [
    ...command.matchAll(new RegExp(`setpoint ${path}(?![\\w-])([^|><&]*)`, "g")),
  ]);
  expect(calls.length).toBeGreaterThan(0);
  for (const [call, rest] of calls) {
    const args = rest!.split(/\s+/).filter(Boolean);
    expect(() => parseArgs({ args, options: parseArgsOptions(options), allowPositionals: true }), call).not.toThrow();
  }
});

it.each(paths)("$path refuses -o xml before it starts anything", async ({ path }) => {
  expect(await run([...path.split(" "), "-o", "xml"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("-o xml: expected json or yaml"),
  });
});

it("lists the choices of an option", async () => {
  const { code, err } = await run(["run", "rancher-projects", "--move", "away"]);
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining("--move away: expected always, own or never"),
  });
});
