/** Run with `node main.ts --leader-elect`. This stand-in for a driver only prints: replace it by a real client. */
import { run } from "setpoint";
import { operator } from "./operator.ts";

const servers = {
  ensureDatabase: async ({ host }: { host: string }, name: string, owner: string) =>
    console.log(`CREATE DATABASE ${name} OWNER ${owner} at ${host}`),
  dropDatabase: async ({ host }: { host: string }, name: string) => console.log(`DROP DATABASE ${name} at ${host}`),
};

await run(operator(servers), { args: process.argv.slice(2) });
