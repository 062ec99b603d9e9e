import type { Command, CommandOption } from "./command.js";

/** `setpoint --help` */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "Usage: setpoint COMMAND [options]",
    "",
    "Commands:",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "`setpoint COMMAND --help` shows the options of one, with examples.",
  ].join("\n");
}

/** `setpoint COMMAND --help` */
export function commandHelp({ name, summary, usage, options, examples, notes = [] }: Command): string {
  const rows = Object.entries({ ...options, help: HELP }).map(([option, entry]) => [
    flagOf(option, entry),
    textOf(entry),
  ]);
  const width = Math.max(...rows.map(([flag]) => flag!.length));
  return [
    `Usage: setpoint ${name} ${usage}`,
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

const HELP: CommandOption = { type: "boolean", short: "h", description: "shows this" };

function flagOf(name: string, { short, placeholder, type }: CommandOption): string {
  const letter = short === undefined ? "" : `-${short}, `;
  return `${letter}--${name}${type === "string" ? ` ${placeholder ?? "VALUE"}` : ""}`;
}

function textOf({ description, default: value }: CommandOption): string {
  return value === undefined || value === false ? description : `${description} (default: ${value})`;
}
