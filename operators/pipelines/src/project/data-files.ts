import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";

/** Larger files are compared only by size and modification time. */
const LONGEST_HASHED = 64 * 1024 * 1024;

interface KnownContent {
  readonly stamp: string;
  readonly hash: string;
}

/** Fingerprints local files, by path or glob. Reads a file again only if its size or times have changed. */
export class DataFiles {
  readonly #folder: string;
  readonly #contents = new Map<string, KnownContent>();
  /** How many files were read. */
  reads = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Equal if the names and contents of all matching files are equal. */
  async fingerprint(pattern: string): Promise<string> {
    const paths = isGlob(pattern) ? await this.#expand(pattern) : [pattern];
    const contents = await Promise.all(paths.map(async (path) => [path, await this.#hashOf(path)]));
    return createHash("sha256").update(JSON.stringify(contents)).digest("base64url");
  }

  /** Whether a pattern matches a path, which is relative to the project's folder. */
  matches(pattern: string, path: string): boolean {
    const inside = isAbsolute(pattern) ? relative(this.#folder, pattern) : pattern.replace(/^\.\//, "");
    const wanted = isGlob(inside) ? globPattern(inside) : undefined;
    return wanted ? wanted.test(path) : inside === path || inside.startsWith(`${path}/`);
  }

  async #hashOf(path: string): Promise<string> {
    const absolute = resolve(this.#folder, path);
    const found = await stat(absolute).catch(() => undefined);
    if (!found?.isFile()) return "absent";
    const stamp = [found.size, found.mtimeMs, found.ctimeMs, found.ino].join(":");
    const known = this.#contents.get(absolute);
    if (known?.stamp === stamp) return known.hash;
    const hash = found.size > LONGEST_HASHED ? `${found.size}:${found.mtimeMs}` : await this.#read(absolute);
    this.#contents.set(absolute, { stamp, hash });
    return hash;
  }

  async #read(path: string): Promise<string> {
    this.reads++;
    const hash = createHash("sha256");
    try {
      await pipeline(createReadStream(path), hash);
    } catch {
      return "unreadable";
    }
    return hash.digest("base64url");
  }

  async #expand(pattern: string): Promise<readonly string[]> {
    const wanted = globPattern(pattern.replace(/^\.\//, ""));
    const fixed = pattern.replace(/^\.\//, "").split("/");
    const base = fixed.slice(0, fixed.findIndex(isGlob)).join("/");
    const root = isAbsolute(pattern) ? `/${base.replace(/^\//, "")}` : base;
    const found: string[] = [];
    const pending = [root];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const entries = await readdir(resolve(this.#folder, at), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = at === "" ? entry.name : join(at, entry.name);
        if (entry.isDirectory()) {
          if (pattern.includes("**") || path.split("/").length < fixed.length) pending.push(path);
        } else if (wanted.test(path)) found.push(path);
      }
    }
    return found.sort();
  }
}

export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** Converts a glob to a regular expression. Knows `*`, `**`, `?`, `[a-c]` and `{a,b}`. */
export function globPattern(glob: string): RegExp {
  const parts = glob.matchAll(/\*\*\/?|\*|\?|\[!?[^\]]*\]|\{[^{}]*\}|[\s\S]/g);
  const source = [...parts].map(([part]) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1 && part[0] === "[") return part.replace("[!", "[^").replace(/\\/g, "\\\\");
    if (part.length > 1) return `(?:${part.slice(1, -1).split(",").map(literal).join("|")})`;
    return literal(part);
  });
  return new RegExp(`^${source.join("")}$`);
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
