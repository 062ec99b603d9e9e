import { parseArgs } from "node:util";
import { isSetpointError } from "setpoint";
import {
  type Command,
  type CommandContext,
  CommandError,
  checkChoices,
  type OptionValues,
  parseArgsOptions,
  UsageError,
} from "./command.js";
import { commands } from "./commands.js";
import { commandHelp, overview } from "./help.js";

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

export type Process = Omit<CommandContext, "values" | "positionals">;

/**
 * The command line. Resolves to the exit code: 0 when the command did its work, 1 when it failed, 2 for wrong usage; a
 * command may have others, which its help lists.
 */
export async function main(args: readonly string[], process: Process, table = commands): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout(overview(table));
    return name === undefined ? EXIT_USAGE : 0;
  }
  const command = table.find((candidate) => candidate.name === name);
  if (!command) {
    process.stderr(`setpoint: there is no command ${JSON.stringify(name)}\n\n${overview(table)}`);
    return EXIT_USAGE;
  }
  try {
    const { values, positionals } = parse(command, rest);
    if (values.help) {
      process.stdout(commandHelp(command));
      return 0;
    }
    checkChoices(command.options, values);
    const run = await command.load();
    return await run({ ...process, values, positionals });
  } catch (error) {
    process.stderr(`setpoint ${name}: ${describe(error)}`);
    if (!(error instanceof UsageError)) return EXIT_FAILED;
    process.stderr(`Try: setpoint ${name} --help`);
    return EXIT_USAGE;
  }
}

function parse(command: Command, args: readonly string[]): { values: OptionValues; positionals: readonly string[] } {
  const defaults = Object.entries(command.options).map(([name, option]) => [name, option.default]);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: parseArgsOptions(command.options),
      allowPositionals: command.allowsPositionals ?? false,
    });
    return { values: { ...Object.fromEntries(defaults), ...values }, positionals };
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function describe(error: unknown): string {
  if (isSetpointError(error)) return `${error.message} [${error.code}]`;
  if (error instanceof UsageError || error instanceof CommandError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
