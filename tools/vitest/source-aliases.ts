import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Alias {
  readonly find: RegExp;
  readonly replacement: string;
}

/** An alias for each entry point of each package, so that tests run on the sources instead of a stale build. */
export function sourceAliases(root: string): readonly Alias[] {
  return ["packages", "operators"].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => {
      const file = join(root, group, name, "package.json");
      return existsSync(file) ? packageAliases(join(root, group, name), JSON.parse(readFileSync(file, "utf8"))) : [];
    }),
  );
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
}

function packageAliases(folder: string, { name, exports = {} }: Manifest): readonly Alias[] {
  return Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === "string") return [];
    const specifier = `${name}${entry.slice(1)}`.replaceAll(".", "\\.").replace("*", "(.*)");
    const source = target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts").replace("*", "$1");
    return [{ find: new RegExp(`^${specifier}$`), replacement: join(folder, source) }];
  });
}
