import { existsSync, renameSync } from "node:fs";

/**
 * Renames a database that does not open, together with its log. Returns the new path, or undefined if there is no file.
 */
export function setAside(path: string, nowMs: number): string | undefined {
  if (!existsSync(path)) return undefined;
  const aside = freePath(path, nowMs);
  for (const suffix of ["", ".wal", ".seal"]) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
  }
  return aside;
}

/** Renames only the log. The file without it is the database as of the last checkpoint. */
export function setLogAside(path: string, nowMs: number): string | undefined {
  if (!existsSync(path) || !existsSync(`${path}.wal`)) return undefined;
  const aside = `${freePath(path, nowMs)}.wal`;
  renameSync(`${path}.wal`, aside);
  return aside;
}

function freePath(path: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  for (let number = 0; ; number++) {
    const aside = `${path}.broken-${stamp}${number === 0 ? "" : `-${number}`}`;
    if (!["", ".wal"].some((suffix) => existsSync(`${aside}${suffix}`))) return aside;
  }
}
