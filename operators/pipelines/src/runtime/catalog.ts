import { existsSync, renameSync } from "node:fs";

/** Renames a database that does not open, together with its journal. Returns the new name. */
export function setAside(path: string, nowMs: number): string {
  const aside = `${path}.broken-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return aside;
}
