import type { ParseArgsConfig } from "node:util";

/** One option of a command, as `util.parseArgs` reads it and `--help` shows it. */
export interface CommandOption {
  readonly type: "string" | "boolean";
  /** One letter. */
  readonly short?: string;
  /** What stands for the value in the help: `DIR`. */
  readonly placeholder?: string;
  readonly description: string;
  readonly default?: string | boolean;
  /** The only values that it takes: any other is wrong usage before anything starts. */
  readonly choices?: readonly string[];
  /** May be given more than once. */
  readonly multiple?: boolean;
}

export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export interface Terminal {
  /** Writes without a line break. */
  readonly write: (text: string) => void;
  readonly columns: () => number;
}

/** What a command may use of the process. */
export interface CommandContext {
  readonly values: OptionValues;
  /** What is left of the arguments. */
  readonly positionals: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** All of the standard input. */
  readonly stdin: () => Promise<string>;
  /** Where a person looks on: there lines may be drawn anew. Undefined in a pipe, a file or a log. */
  readonly terminal: Terminal | undefined;
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

/** A row of the command table. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What follows `setpoint NAME` in the usage: `[options] FILE...` */
  readonly usage: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly allowsPositionals?: boolean;
  readonly examples: readonly { readonly text: string; readonly command: string }[];
  /** Further lines of the help: exit codes, files. */
  readonly notes?: readonly string[];
  /** Loaded when it is needed. Resolves to the exit code; a rejection is printed, with its error code. */
  readonly load: () => Promise<(context: CommandContext) => Promise<number>>;
}

/** Thrown for arguments that make no sense: exit code 2 and a pointer to the help. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Thrown for what is wrong outside of the program, in words that need no stack: exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** Throws a {@link UsageError} that names the first option whose value is none of its choices. */
export function checkChoices(options: Command["options"], values: OptionValues): void {
  for (const [name, { choices, short }] of Object.entries(options)) {
    const value = values[name];
    if (value === undefined || choices === undefined || choices.includes(String(value))) continue;
    const flag = short === undefined ? `--${name}` : `-${short}`;
    throw new UsageError(`${flag} ${String(value)}: expected ${alternatives(choices)}`);
  }
}

/** `a, b or c` */
function alternatives(choices: readonly string[]): string {
  return [choices.slice(0, -1).join(", "), choices.at(-1)].filter(Boolean).join(" or ");
}

export function parseArgsOptions(options: Command["options"]): NonNullable<ParseArgsConfig["options"]> {
  const entries = Object.entries(options).map(([name, { type, short, multiple }]) => {
    return [name, { type, ...(short !== undefined && { short }), ...(multiple && { multiple }) }];
  });
  return { ...Object.fromEntries(entries), help: { type: "boolean", short: "h" } };
}
