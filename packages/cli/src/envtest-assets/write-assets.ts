import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CommandContext, UsageError } from "setpoint/command";
import { printed } from "../printed.js";
import { assets } from "./assets.js";

/** Writes the scripts; those of an earlier installation are replaced. */
export async function writeAssets({ positionals, values, stdout }: CommandContext): Promise<number> {
  const [given, ...rest] = positionals;
  if (given === undefined || rest.length > 0) throw new UsageError("expected one folder");
  const folder = resolve(given);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(assets(process.execPath))) {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  }
  stdout((await printed(values.output, { folder })) ?? `KUBEBUILDER_ASSETS=${folder}`);
  return 0;
}
