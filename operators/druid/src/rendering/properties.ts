const SEPARATOR = /^((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)$/s;
const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

/** Parses Java properties; later ones take precedence. Throws a `SyntaxError` with the line where Java would fail. */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  const lines = text.split(/\r\n|\r|\n/);
  for (let at = 0; at < lines.length; at++) {
    const first = at;
    let line = lines[at]!.trimStart();
    if (line === "" || line.startsWith("#") || line.startsWith("!")) continue;
    while (/(?<!\\)(?:\\\\)*\\$/.test(line) && at + 1 < lines.length)
      line = line.slice(0, -1) + lines[++at]!.trimStart();
    const [, key = "", value = ""] = SEPARATOR.exec(line)!;
    properties.set(unescaped(key, first), unescaped(value, first));
  }
  return properties;
}

function unescaped(text: string, line: number): string {
  return text.replace(/\\(u([0-9a-fA-F]{4})?|.)?/gs, (all, char: string | undefined, code: string | undefined) => {
    if (char?.[0] === "u" && code === undefined) {
      throw new SyntaxError(`line ${line + 1} has \\u without four hexadecimal digits`);
    }
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return char === undefined ? all.slice(1) : (ESCAPES[char] ?? char);
  });
}
