import type { Command, CommandGroup, CommandOption } from "setpoint/command";

/** `setpoint --help` */
export function overview(commands: readonly (Command | CommandGroup)[]): string {
  return listing("setpoint", undefined, commands);
}

/** `setpoint GROUP --help` */
export function groupHelp({ name, summary, commands }: CommandGroup): string {
  return listing(`setpoint ${name}`, summary, commands);
}

function listing(
  prefix: string,
  summary: string | undefined,
  commands: readonly { readonly name: string; readonly summary: string }[],
): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    `Usage: ${prefix} COMMAND [options]`,
    "",
    ...(summary === undefined ? [] : [summary, ""]),
    "Commands:",
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    "",
    `\`${prefix} COMMAND --help\` shows the options and examples of a command.`,
  ].join("\n");
}

/** `setpoint COMMAND --help`; `path` is the command with its group: `druid render`. */
export function commandHelp(
  { name, summary, usage, options, examples, notes = [] }: Command,
  path: string = name,
): string {
  const rows = Object.entries({ ...options, help: HELP }).map(([option, entry]) => [
    flagOf(option, entry),
    textOf(entry),
  ]);
  const width = Math.max(...rows.map(([flag]) => flag!.length));
  return [
    `Usage: setpoint ${path} ${usage}`,
    "",
    summary,
    "",
    "Options:",
    ...rows.map(([flag, text]) => `  ${flag!.padEnd(width)}  ${text}`),
    "",
    "Examples:",
    ...examples.flatMap(({ text, command }) => [`  # ${text}`, `  ${command}`]),
    ...(notes.length > 0 ? ["", ...notes] : []),
  ].join("\n");
}

const HELP: CommandOption = { type: "boolean", short: "h", description: "shows this help" };

function flagOf(name: string, { short, placeholder, type }: CommandOption): string {
  const letter = short === undefined ? "" : `-${short}, `;
  return `${letter}--${name}${type === "string" ? ` ${placeholder ?? "VALUE"}` : ""}`;
}

function textOf({ description, default: value }: CommandOption): string {
  return value === undefined || value === false ? description : `${description} (default: ${value})`;
}
