// Tarballs of the published packages and of all their runtime dependencies, made without a registry.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The folders of the packages that are published. */
export function publishedFolders() {
  return ["packages", "operators"]
    .flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name)))
    .filter((folder) => existsSync(join(folder, "package.json")) && !readJson(join(folder, "package.json")).private);
}

/** Packs folders as they would be published, without running their scripts. */
export function pack(folders, destination) {
  const args = ["pack", ...folders, "--json", "--ignore-scripts", "--pack-destination", destination];
  const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 28 };
  return JSON.parse(execFileSync("npm", args, options)).map(({ name, version, filename, files, unpackedSize }) => ({
    name,
    version,
    file: join(destination, filename),
    files: files.map(({ path }) => path),
    unpackedSize,
  }));
}

/** The folders under node_modules that the published packages need, according to the lockfile. */
export function runtimeFolders() {
  const { packages } = readJson(join(root, "package-lock.json"));
  return Object.entries(packages)
    .filter(([path, entry]) => path.startsWith("node_modules/") && !entry.link && !entry.dev && !entry.devOptional)
    .map(([path]) => join(root, path))
    .filter((folder) => existsSync(join(folder, "package.json")));
}
