import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Problem } from "./source-text.js";

const MOST_FILES = 10_000;
const LONGEST_FILE = 128 * 1024;

/** A file of the project as it was last seen. */
export interface FoundFile {
  readonly path: string;
  readonly size: number;
  /** Changes whenever the file is written. */
  readonly stamp: string;
}

/** Names of the project file. The first that exists is used. */
export const PROJECT_FILES = ["setpoint.yaml", "setpoint.yml", "rill.yaml", "rill.yml"] as const;

export function isProjectPath(path: string): boolean {
  return (
    /\.(env|sql|ya?ml)$/.test(path) &&
    !path
      .split("/")
      .slice(0, -1)
      .some((part) => isHidden(part, path))
  );
}

function isHidden(name: string, path: string): boolean {
  return name.startsWith(".") || name === "node_modules" || path.startsWith("tmp/");
}

/** All files of the project below a folder, sorted. Skips hidden folders, `node_modules` and `tmp`. */
export async function findFiles(
  folder: string,
): Promise<{ files: readonly FoundFile[]; problems: readonly Problem[] }> {
  const paths: string[] = [];
  const pending = [""];
  for (let base = pending.shift(); base !== undefined; base = pending.shift()) {
    for (const entry of await readdir(join(folder, base), { withFileTypes: true })) {
      const path = base === "" ? entry.name : `${base}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isHidden(entry.name, `${path}/`)) pending.push(path);
      } else if (isProjectPath(path)) paths.push(path);
    }
  }
  paths.sort();
  const problems: Problem[] = [];
  if (paths.length > MOST_FILES)
    problems.push({
      severity: "error",
      message: `the project has ${paths.length} files; only the first ${MOST_FILES} are read. Exclude folders with ignore_paths`,
    });
  const files = await Promise.all(paths.slice(0, MOST_FILES).map((path) => fileAt(folder, path)));
  return { files: files.filter((file) => file !== undefined), problems };
}

/** The file as it is now; undefined if it does not exist. */
export async function fileAt(folder: string, path: string): Promise<FoundFile | undefined> {
  const found = await stat(join(folder, path)).catch(() => undefined);
  return found?.isFile()
    ? { path, size: found.size, stamp: `${found.mtimeMs}:${found.ctimeMs}:${found.ino}` }
    : undefined;
}

/** Whether a path is a folder that may hold files of the project. */
export async function isFolder(folder: string, path: string): Promise<boolean> {
  if (path.split("/").some((part) => isHidden(part, `${path}/`))) return false;
  return (await stat(join(folder, path)).catch(() => undefined))?.isDirectory() ?? false;
}

/** The text of a file, or the problem that prevents reading it. */
export async function readText(folder: string, { path, size }: FoundFile): Promise<string | Problem> {
  const place = { path, line: 1, column: 1 };
  if (size > LONGEST_FILE)
    return { severity: "error", message: `the file has ${size} bytes; at most ${LONGEST_FILE} are read`, place };
  try {
    return (await readFile(join(folder, path), "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    return { severity: "error", message: `the file cannot be read: ${(error as Error).message}`, place };
  }
}
