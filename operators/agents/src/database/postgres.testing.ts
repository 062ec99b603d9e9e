import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "setpoint/clock";

const ROOT = "/usr/lib/postgresql";
const START_LIMIT_MS = 30_000;

export interface Postgres extends Disposable {
  readonly url: string;
  ready(): Promise<void>;
}

/** Debian's PostgreSQL on loopback, in its own folder, as a user that is not root. Undefined if it is not installed. */
export function startPostgres(): Postgres | undefined {
  const version = existsSync(ROOT) ? readdirSync(ROOT).sort().at(-1) : undefined;
  if (version === undefined) return undefined;
  const bin = join(ROOT, version, "bin");
  const folder = mkdtempSync(join(tmpdir(), "agents-postgres-"));
  const isRoot = process.getuid?.() === 0;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  const user = isRoot ? { uid: id("-u"), gid: id("-g") } : {};
  if (isRoot) chownSync(folder, user.uid!, user.gid!);
  const data = join(folder, "data");
  const options = { cwd: folder, stdio: "ignore", ...user } as const;
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "agents", "--auth=trust", "--no-sync"], options);
  const port = freePort();
  let url = "";
  const server = port.then((number) => {
    url = `postgres://agents@127.0.0.1:${number}/postgres`;
    const args = ["-D", data, "-p", String(number), "-h", "127.0.0.1", "-k", folder, "-F"];
    return spawn(join(bin, "postgres"), args, options);
  });
  return {
    get url() {
      return url;
    },
    async ready() {
      await server;
      const { default: pg } = await import("pg");
      const limit = systemClock.monotonic() + START_LIMIT_MS;
      for (;;) {
        const client = new pg.Client({ connectionString: url });
        try {
          await client.connect();
          await client.end();
          return;
        } catch (error) {
          if (systemClock.monotonic() > limit) throw error;
          await systemClock.sleep(100);
        }
      }
    },
    [Symbol.dispose]() {
      void server.then((child) => {
        child.once("exit", () => rmSync(folder, { recursive: true, force: true }));
        child.kill("SIGINT");
      });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
