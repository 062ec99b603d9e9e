#!/usr/bin/env node
/**
 * The command `setpoint`. The commands are in a separate package, so that programs which only import the library stay
 * small.
 */
const CLI = "@setpoint/cli";

interface Cli {
  runProcess(): Promise<void>;
}

let cli: Cli | undefined;
try {
  cli = (await import(CLI)) as Cli;
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(CLI)) throw error;
  process.stderr.write(`setpoint: the command needs the package ${CLI}: npm install --save-dev ${CLI}\n`);
  process.exitCode = 1;
}
await cli?.runProcess();
