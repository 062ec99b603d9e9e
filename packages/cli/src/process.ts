import { main } from "./main.js";

/** Runs the command line on this process: its arguments, streams, signals and exit code. */
export async function runProcess(): Promise<void> {
  const interrupt = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => interrupt.abort(new Error(`interrupted by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  process.exitCode = await main(process.argv.slice(2), {
    env: process.env,
    stdout: (line) => process.stdout.write(`${line}\n`),
    stderr: (line) => process.stderr.write(`${line}\n`),
    stdin: readStdin,
    terminal: process.stdout.isTTY
      ? { write: (text) => process.stdout.write(text), columns: () => process.stdout.columns }
      : undefined,
    signal: interrupt.signal,
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
