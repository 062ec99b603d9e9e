import { existsSync, renameSync } from "node:fs";

/** Moves a database that does not open out of the way, with its journal. Gives the name that it has now. */
export function setAside(path: string, nowMs: number): string {
  const aside = `${path}.broken-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return aside;
}
