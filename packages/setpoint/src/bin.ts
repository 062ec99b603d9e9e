#!/usr/bin/env node
/** The command `setpoint`. Its commands are a package of their own, so that a program that only imports stays small. */
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
