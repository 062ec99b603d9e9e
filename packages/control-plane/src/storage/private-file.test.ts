import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { controlPlane } from "../control-plane.js";
import { writePrivateFile } from "./private-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "private-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe.skipIf(process.platform === "win32")("a private file (modes are those of POSIX: skipped on Windows)", () => {
  it("is accessible by this user only, whatever existed under its name [R11]", async () => {
    const path = join(folder, "kubeconfig");
    writeFileSync(path, "old", { mode: 0o644 });
    writeFileSync(`${path}.new`, "planted", { mode: 0o666 });
    chmodSync(`${path}.new`, 0o666);
    await writePrivateFile(path, "secret");
    expect(readFileSync(path, "utf8")).toBe("secret");
    expect(modeOf(path)).toBe(0o600);
    expect(readFileSync(`${path}.new`, "utf8")).toBe("planted");
  });

  it("is never written through a symbolic link [R11]", async () => {
    const [path, target] = [join(folder, "kubeconfig"), join(folder, "precious")];
    writeFileSync(target, "precious", { mode: 0o644 });
    symlinkSync(target, path);
    symlinkSync(target, `${path}.new`);
    await writePrivateFile(path, "secret");
    expect(readFileSync(target, "utf8")).toBe("precious");
    expect(readFileSync(path, "utf8")).toBe("secret");
    expect(modeOf(path)).toBe(0o600);
  });

  it("leaves nothing behind if it cannot be written", async () => {
    const path = join(folder, "taken");
    await writePrivateFile(join(path, "inside"), "");
    await expect(writePrivateFile(path, "secret")).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(["taken"]);
  });
});

describe.skipIf(process.platform === "win32")("a data directory that others can read (skipped on Windows)", () => {
  it("causes a warning, and everything in it is private: journal, log, index, credentials [R10]", async () => {
    chmodSync(folder, 0o755);
    const warnings: string[] = [];
    const start = () => controlPlane({ dataDir: folder, log: (message) => warnings.push(message) });
    const modes = (): readonly number[] => readdirSync(folder).map((name) => modeOf(join(folder, name)));
    {
      await using _plane = await start();
      expect(readdirSync(folder)).toEqual(expect.arrayContaining(["credentials.json", "journal.db", "journal.db-wal"]));
      expect(new Set(modes())).toEqual(new Set([0o600]));
      expect(warnings).toEqual([expect.stringContaining(`${folder} is readable for other users`)]);
    }
    // As an earlier version left them.
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
    await using _plane = await start();
    expect(new Set(modes())).toEqual(new Set([0o600]));
  });

  it("is refused if the journal is a symbolic link [R11]", async () => {
    symlinkSync(join(folder, "elsewhere"), join(folder, "journal.db"));
    await expect(controlPlane({ dataDir: folder })).rejects.toMatchObject({ code: "STORAGE_UNREADABLE" });
  });
});
