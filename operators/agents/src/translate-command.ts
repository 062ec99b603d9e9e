import { readFile } from "node:fs/promises";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import { stringify } from "yaml";
import { translateCase } from "./translate/golden.js";

/** `setpoint agents translate`: translates the Agent that the file names as target. */
export async function runTranslate({ values, stdin, stdout }: CommandContext): Promise<number> {
  const file = values.filename;
  if (typeof file !== "string") throw new UsageError("-f FILE is required: the file to translate");
  let text: string;
  try {
    text = file === "-" ? await stdin() : await readFile(file, "utf8");
  } catch (cause) {
    throw new CommandError(`${file}: ${(cause as Error).message}`, { cause });
  }
  const translated = await translateCase(text);
  stdout(values.output === "yaml" ? stringify(translated).trimEnd() : JSON.stringify(translated, null, 2));
  return 0;
}
