import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "setpoint";
import { seededRandom } from "setpoint/clock";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../../../tools/ports/free-port.mjs";
import { killRound } from "./testing/kill-round.js";
import { runServer, startServer } from "./testing/server-process.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configMap = (name: string) => ({ metadata: { name, namespace: "default" } });

describe("setpoint control-plane", () => {
  it("prints its address, writes a kubeconfig for this user only, and keeps everything over SIGTERM", async () => {
    let uid: string;
    {
      await using server = await startServer({ folder });
      expect(server.output()).toMatch(/^setpoint control plane ready at https:\/\/127\.0\.0\.1:\d+, KUBECONFIG=\S+\n$/);
      expect(statSync(server.kubeconfig).mode & 0o777).toBe(0o600);
      await using client = await connect({ kubeconfig: server.kubeconfig });
      uid = (await client.create(ConfigMap, configMap("kept"))).metadata.uid;
      // A watch is open when the signal arrives: it must not delay the server.
      const watch = client.watch(ConfigMap, { namespace: "default" })[Symbol.asyncIterator]();
      await watch.next();
      const ended = watch.next().then(
        () => watch.next(),
        () => {},
      );
      expect(await server.stop("SIGTERM")).toBe(0);
      await ended;
      expect(server.errors()).toBe("");
    }
    await using server = await startServer({ folder });
    await using client = await connect({ kubeconfig: server.kubeconfig });
    expect((await client.get(ConfigMap, "kept", { namespace: "default" })).metadata.uid).toBe(uid);
  });

  it("accepts a kubeconfig of an earlier start on the same folder", async () => {
    const port = await freePort();
    const args = ["--listen", `127.0.0.1:${port}`];
    const copy = join(folder, "copy");
    {
      await using server = await startServer({ folder, args });
      const { readFileSync } = await import("node:fs");
      writeFileSync(copy, readFileSync(server.kubeconfig), { mode: 0o600 });
      await server.stop("SIGTERM");
    }
    await using _ = await startServer({ folder, args });
    await using client = await connect({ kubeconfig: copy });
    expect((await client.list(ConfigMap)).items).toBeDefined();
  });

  it("names a port in use and exits with 3", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    const { port } = holder.address() as { port: number };
    const args = ["--ephemeral", "--listen", `127.0.0.1:${port}`, "--kubeconfig", join(folder, "kubeconfig")];
    const { code, errors } = await runServer(args);
    holder.close();
    expect(code).toBe(3);
    expect(errors).toContain(`127.0.0.1:${port} is in use; choose another with --listen`);
  });

  it("names a folder that is in use, damaged or inaccessible, and exits with 4", async () => {
    const start = (dataDir: string) =>
      runServer(["--data-dir", dataDir, "--listen", "127.0.0.1:0", "--kubeconfig", join(folder, "other")]);
    await using _ = await startServer({ folder });
    const locked = await start(join(folder, "data"));
    expect(locked).toMatchObject({ code: 4, errors: expect.stringContaining("is in use by another process") });
    await startServer({ folder: join(folder, "second") }).then((server) => server.stop("SIGTERM"));
    writeFileSync(join(folder, "second", "data", "journal.db"), Buffer.alloc(9000, "no database"));
    const damaged = await start(join(folder, "second", "data"));
    expect(damaged).toMatchObject({ code: 4, errors: expect.stringMatching(/is damaged: .*restore the folder/) });
    writeFileSync(join(folder, "file"), "");
    const file = await start(join(folder, "file"));
    expect(file).toMatchObject({ code: 4, errors: expect.stringContaining("STORAGE_UNREADABLE") });
  });

  it("refuses invalid arguments and exits with 2", async () => {
    expect(await runServer(["--listen", "6443"])).toMatchObject({
      code: 2,
      errors: expect.stringContaining("HOST:PORT"),
    });
    expect(await runServer(["--ephemeral", "--data-dir", folder])).toMatchObject({ code: 2 });
    expect(await runServer(["--history-changes", "none", "--ephemeral"])).toMatchObject({ code: 2 });
  });

  it("loses no acknowledged write when it is killed while 64 clients write", { timeout: 120_000 }, async () => {
    const random = seededRandom(Number(process.env.SEED ?? 1));
    const round = { folder, random, clients: 64, acknowledgedWrites: 500 };
    await killRound({ ...round, prefix: "plain", contentBytes: 2_000 });
    await killRound({ ...round, prefix: "compacting", contentBytes: 8_000, historyChanges: 150 });
  });
});
