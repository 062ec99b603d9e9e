import { createServer } from "node:http";
import { interrupted } from "../interrupted.js";
import type { Flags } from "./flags.js";

/** Where an API server finds out which data folder this etcd was given. */
export const DATA_DIR_PATH = "/setpoint/data-dir";

/** Replaces the etcd of envtest: it reports health and its data folder, and stores nothing. */
export async function runEtcd(flags: Flags, _env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const url = new URL(flags.get("listen-client-urls")?.split(",")[0] ?? "http://127.0.0.1:2379");
  const dataDir = flags.get("data-dir") ?? "default.etcd";
  const server = createServer((request, response) => {
    if (request.url === "/health") {
      response.setHeader("content-type", "application/json");
      response.end('{"health":"true","reason":""}');
    } else if (request.url === DATA_DIR_PATH) response.end(dataDir);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(Number(url.port || 2379), url.hostname, resolve);
  });
  await interrupted(signal);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
