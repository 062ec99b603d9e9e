import { Flags } from "./flags.js";

/** Loaded when one runs. */
const SERVERS = {
  etcd: async () => (await import("./etcd.js")).runEtcd,
  "kube-apiserver": async () => (await import("./api-server.js")).runApiServer,
};

/** Runs a server with the flags of this process until a signal stops it, for the scripts of `envtest-assets`. */
export async function runEnvtestServer(name: keyof typeof SERVERS): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    const run = await SERVERS[name]();
    await run(new Flags(process.argv.slice(1)), process.env, stop.signal);
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
  }
}
