import { parseArgs } from "node:util";
import { describe, expect, it } from "vitest";
import { type Command, type CommandContext, parseArgsOptions, UsageError } from "./command.js";
import { commands } from "./commands.js";
import { commandHelp } from "./help.js";
import { main } from "./main.js";

const run = async (args: readonly string[], table?: readonly Command[]) => {
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

  it("refuses unknown commands and options with exit code 2 and a pointer", async () => {
    expect(await run(["dance"], [greet])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no command "dance"'),
    });
    expect(await run([], [greet])).toMatchObject({ code: 2 });
    const unknown = await run(["greet", "--loudly"], [greet]);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("--loudly") });
    expect(unknown.err).toContain("setpoint greet --help");
  });

  it("prints what a command throws, and tells wrong usage from failure", async () => {
    const misused = command(async () => {
      throw new UsageError("too early");
    });
    expect(await run(["greet"], [misused])).toMatchObject({ code: 2, err: expect.stringContaining("too early") });
    const failing = command(async () => {
      throw new Error("no voice");
    });
    expect(await run(["greet"], [failing])).toMatchObject({ code: 1, err: expect.stringContaining("no voice") });
  });

  it("describes each of its commands with an example", async () => {
    for (const { name, examples } of commands) {
      expect(examples.length).toBeGreaterThan(0);
      expect((await run([name, "--help"])).out).toContain(`Usage: setpoint ${name}`);
    }
  });
});

it.each(commands)("$name --help has an example and exit codes, and -o tells scripts what they need", (command) => {
  const help = commandHelp(command);
  expect(help).toContain("Examples:");
  expect(help).toContain("Exit codes:");
  expect(command.options.output).toMatchObject({ type: "string", short: "o" });
});

it.each(commands)("$name knows the options of its examples", ({ name, options, examples }) => {
  const calls = examples.flatMap(({ command }) => [
    ...command.matchAll(new RegExp(`setpoint ${name}\\b([^|><&]*)`, "g")),
  ]);
  expect(calls.length).toBeGreaterThan(0);
  for (const [call, rest] of calls) {
    const args = rest!.split(/\s+/).filter(Boolean);
    expect(() => parseArgs({ args, options: parseArgsOptions(options), allowPositionals: true }), call).not.toThrow();
  }
});

it.each(commands)("$name refuses -o xml before it starts anything", async ({ name }) => {
  expect(await run([name, "-o", "xml"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("-o xml: expected json or yaml"),
  });
});

it("names the choices of an option", async () => {
  const { code, err } = await run(["run", "rancher-projects", "--move", "away"]);
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining("--move away: expected always, own or never"),
  });
});
