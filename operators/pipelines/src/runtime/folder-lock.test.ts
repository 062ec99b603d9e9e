import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FolderLock, isKept, readServerFile } from "./folder-lock.js";
import { stateFolder } from "./state-folder.js";

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "setpoint-lock-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

describe("the lock of a folder", () => {
  it("is refused to a second process with the PID of the first, and free when that has closed it", () => {
    const folder = stateFolder(path);
    expect(isKept(folder)).toBe(false);
    const first = FolderLock.take(folder);
    expect(() => FolderLock.take(folder)).toThrow(`the process with PID ${process.pid} runs on this folder`);
    expect(isKept(folder)).toBe(true);
    first[Symbol.dispose]();
    expect(isKept(folder)).toBe(false);
    FolderLock.take(folder)[Symbol.dispose]();
  });

  it("tells others how to reach it in a file that only its owner can read, and removes it", () => {
    const folder = stateFolder(path);
    const lock = FolderLock.take(folder);
    lock.publish({ pid: 1, url: "http://127.0.0.1:1", token: "t" });
    expect(statSync(folder.server).mode & 0o777).toBe(0o600);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    expect(readServerFile(folder)).toEqual({ pid: 1, url: "http://127.0.0.1:1", token: "t" });
    expect(readFileSync(join(folder.path, ".gitignore"), "utf8")).toBe("*\n");
    lock[Symbol.dispose]();
    expect(readServerFile(folder)).toBeUndefined();
  });

  it("never writes its token through a symbolic link", () => {
    const folder = stateFolder(path);
    const lock = FolderLock.take(folder);
    const bait = join(path, "bait");
    writeFileSync(bait, "");
    rmSync(folder.server);
    symlinkSync(bait, folder.server);
    symlinkSync(bait, `${folder.server}.new`);
    lock.publish({ pid: 1, url: "http://127.0.0.1:1", token: "t" });
    expect(readFileSync(bait, "utf8")).toBe("");
    expect(lstatSync(folder.server).isFile()).toBe(true);
    lock[Symbol.dispose]();
  });

  it("names a missing folder", () => {
    expect(() => stateFolder(join(path, "nowhere"))).toThrow("no such folder");
  });
});
