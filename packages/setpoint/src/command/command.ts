/** One option of a command, as `util.parseArgs` reads it and `--help` shows it. */
export interface CommandOption {
  readonly type: "string" | "boolean";
  /** One letter. */
  readonly short?: string;
  /** The placeholder of the value in the help: `DIR`. */
  readonly placeholder?: string;
  readonly description: string;
  readonly default?: string | boolean;
  /** The only allowed values: any other is wrong usage before anything starts. */
  readonly choices?: readonly string[];
  /** May be given more than once. */
  readonly multiple?: boolean;
}

export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export interface Terminal {
  /** Writes without a final line break. */
  readonly write: (text: string) => void;
  readonly columns: () => number;
}

/** What a command may use of the process. */
export interface CommandContext {
  readonly values: OptionValues;
  /** The positional arguments. */
  readonly positionals: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** All of the standard input. */
  readonly stdin: () => Promise<string>;
  /** The terminal, if a person watches and lines may be redrawn. Undefined for a pipe, a file or a log. */
  readonly terminal: Terminal | undefined;
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

/** One command: `setpoint NAME`, or `setpoint GROUP NAME` inside a group. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What follows the name in the usage: `[options] FILE...` */
  readonly usage: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly allowsPositionals?: boolean;
  readonly examples: readonly { readonly text: string; readonly command: string }[];
  /** Further lines of the help: exit codes, files. */
  readonly notes?: readonly string[];
  /** Loaded on first use. Resolves to the exit code; a rejection is printed with its error code. */
  readonly load: () => Promise<(context: CommandContext) => Promise<number>>;
}

/** Commands under one name: `setpoint druid render`, `setpoint druid plan`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

/** Thrown for wrong arguments: exit code 2 and a pointer to the help. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Thrown for problems outside the program, with a message that needs no stack: exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
