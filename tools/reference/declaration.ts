import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One exported name, as the compiler declares it. */
export interface Declaration {
  readonly name: string;
  /** The folder of the package that it lives in: `controller`; `builtin` for built-in kinds, which have no page. */
  readonly folder: string;
  readonly keyword: "function" | "class" | "const" | "interface" | "type";
  /** The doc comment as Markdown; empty if there is none. */
  readonly words: string;
  /** Signature, or members with their comments. Overloads are joined. */
  readonly code: string;
}

/**
 * The exports of a declaration file, with re-exports resolved. Reads the compiler's output, whose layout is regular:
 * every declaration starts in the first column and ends with its brackets.
 */
export function declarationsOf(entry: string): readonly Declaration[] {
  const text = readFileSync(entry, "utf8");
  const found: Declaration[] = [];
  for (const [, list, from] of text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm)) {
    const declared = declaredIn(resolved(entry, from!));
    for (const item of list!.split(",").map((part) => part.trim().replace(/^type /, ""))) {
      if (item === "") continue;
      const [inner, outer = inner] = item.split(" as ") as [string, string?];
      const declaration = declared.get(inner);
      if (!declaration) throw new Error(`${entry}: ${inner} is not declared in ${from}`);
      found.push({ ...declaration, name: outer });
    }
  }
  for (const [, from] of text.matchAll(/^export (?:type )?\* from "([^"]+)";/gm)) {
    found.push(...declaredIn(resolved(entry, from!)).values());
  }
  found.push(...declaredIn(entry).values());
  return found;
}

function resolved(from: string, specifier: string): string {
  return join(dirname(from), specifier.replace(/\.js$/, ".d.ts"));
}

const START = /^export (?:declare )?(?:abstract )?(function|class|const|interface|type) (\w+)/gm;

function declaredIn(path: string): ReadonlyMap<string, Declaration> {
  const text = readFileSync(path, "utf8");
  const [top, inner] = path.split("/dist/").at(-1)!.split("/") as [string, string];
  const folder = inner === "builtin" ? inner : top;
  const found = new Map<string, Declaration>();
  for (const match of text.matchAll(START)) {
    const [, keyword, name] = match as unknown as [string, Declaration["keyword"], string];
    const code = text.slice(match.index, endOf(text, match.index)).replace(/^export (declare )?/, "");
    const earlier = found.get(name);
    const words = wordsBefore(text, match.index) || (earlier?.words ?? "");
    const all = earlier ? `${earlier.code}\n${code}` : code;
    found.set(name, { name, folder, keyword, words, code: all.replaceAll(/^ {4}#private;\n/gm, "") });
  }
  return found;
}

/** The end of a declaration: its first semicolon, or its closing brace, outside of all brackets. */
function endOf(text: string, start: number): number {
  const isBlock = /^export (declare )?(abstract )?(class|interface) /.test(text.slice(start, start + 40));
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (text.startsWith("/*", at)) at = text.indexOf("*/", at) + 1;
    else if (character === '"') at = text.indexOf('"', at + 1);
    else if ("{[(".includes(character)) depth++;
    else if ("}])".includes(character)) {
      depth--;
      if (depth === 0 && isBlock && character === "}" && text[at - 1] !== "(") {
        if (text[at + 1] === "\n" || text[at + 1] === undefined) return at + 1;
      }
    } else if (character === ";" && depth === 0) return at + 1;
  }
  return text.length;
}

function wordsBefore(text: string, at: number): string {
  const before = text.slice(0, at).trimEnd();
  if (!before.endsWith("*/")) return "";
  const comment = before.slice(before.lastIndexOf("/**"));
  return comment
    .replace(/^\/\*\*\s?/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^ \* ?/, ""))
    .join("\n")
    .replaceAll(/\{@link (?:\w+\.)?([\w.#]+)\}/g, "`$1`")
    .trim();
}
