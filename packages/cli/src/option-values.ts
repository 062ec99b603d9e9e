import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Command, type OptionValues, UsageError } from "setpoint/command";

/** The options and arguments of a call. Throws a {@link UsageError} that names what is wrong. */
export function parseOptions(
  command: Command,
  args: readonly string[],
): { readonly values: OptionValues; readonly positionals: readonly string[] } {
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
