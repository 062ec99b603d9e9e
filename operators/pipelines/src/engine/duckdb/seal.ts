import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from "node:fs";

/** DuckDB's main header and its two database headers, which count checkpoints. */
const HEADER_BYTES = 3 * 4_096;
const TAIL_BYTES = 64 * 1_024;

/**
 * Identifies the state of a database file: every checkpoint changes the headers, and every commit changes the log. Must
 * not be called in the engine's own process: closing the file there would release DuckDB's lock on it.
 */
export function fingerprint(path: string): string | undefined {
  try {
    const wal = `${path}.wal`;
    const log = existsSync(wal) ? digestOf(wal, "tail") : "none";
    return `${digestOf(path, "head")} ${log}`;
  } catch {
    return undefined;
  }
}

/** Whether the file is unchanged since it was last sealed. */
export function isSealed(path: string): boolean {
  try {
    return readFileSync(sealPath(path), "utf8") === fingerprint(path);
  } catch {
    return false;
  }
}

/** Records the fingerprint of the file while nobody writes to it. */
export function seal(path: string): void {
  const print = fingerprint(path);
  if (print === undefined) return;
  const aside = `${sealPath(path)}.next`;
  try {
    writeFileSync(aside, print, { mode: 0o600 });
    renameSync(aside, sealPath(path));
  } catch {
    // Ignore the failure: without a seal, the next start reads all tables once.
  }
}

function sealPath(path: string): string {
  return `${path}.seal`;
}

function digestOf(path: string, part: "head" | "tail"): string {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const length = Math.min(size, part === "head" ? HEADER_BYTES : TAIL_BYTES);
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, part === "head" ? 0 : size - length);
    return `${size}-${createHash("sha256").update(bytes).digest("hex")}`;
  } finally {
    closeSync(file);
  }
}
