import { isSetpointError } from "setpoint";
import { type Command, type CommandContext, CommandError, type CommandGroup, UsageError } from "setpoint/command";
import { commands } from "./commands.js";
import { commandHelp, groupHelp, overview } from "./help.js";
import { checkChoices, parseOptions } from "./option-values.js";
import { visibleLines } from "./visible.js";

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

export type Process = Omit<CommandContext, "values" | "positionals">;

/**
 * The command line. Resolves to the exit code: 0 when the command did its work, 1 when it failed, 2 for wrong usage; a
 * command may have others, which its help lists.
 */
export async function main(
  args: readonly string[],
  process: Process,
  table: readonly (Command | CommandGroup)[] = commands,
): Promise<number> {
  const [name, ...rest] = args;
  if (isHelp(name)) return help(name, overview(table), process);
  const entry = table.find((candidate) => candidate.name === name);
  if (!entry) {
    process.stderr(`setpoint: there is no command ${JSON.stringify(name)}\n\n${overview(table)}`);
    return EXIT_USAGE;
  }
  if (!("commands" in entry)) return runCommand(entry, entry.name, rest, process);
  const [inner, ...innerRest] = rest;
  if (isHelp(inner)) return help(inner, groupHelp(entry), process);
  const command = entry.commands.find((candidate) => candidate.name === inner);
  if (command) return runCommand(command, `${entry.name} ${command.name}`, innerRest, process);
  const names = entry.commands.map((each) => each.name).join(", ");
  process.stderr(`setpoint ${entry.name}: expected one of ${names}, not ${JSON.stringify(inner)}`);
  process.stderr(`Try: setpoint ${entry.name} --help`);
  return EXIT_USAGE;
}

function isHelp(name: string | undefined): boolean {
  return name === undefined || name === "--help" || name === "-h" || name === "help";
}

/** Requested help is a success; help because of a missing command is wrong usage. */
function help(name: string | undefined, text: string, process: Process): number {
  process.stdout(text);
  return name === undefined ? EXIT_USAGE : 0;
}

async function runCommand(command: Command, path: string, args: readonly string[], process: Process): Promise<number> {
  try {
    const { values, positionals } = parseOptions(command, args);
    if (values.help) {
      process.stdout(commandHelp(command, path));
      return 0;
    }
    checkChoices(command.options, values);
    const run = await command.load();
    return await run({ ...process, values, positionals });
  } catch (error) {
    process.stderr(`setpoint ${path}: ${visibleLines(describe(error))}`);
    if (!(error instanceof UsageError)) return EXIT_FAILED;
    process.stderr(`Try: setpoint ${path} --help`);
    return EXIT_USAGE;
  }
}

function describe(error: unknown): string {
  if (isSetpointError(error)) return `${error.message} [${error.code}]`;
  if (error instanceof UsageError || error instanceof CommandError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
