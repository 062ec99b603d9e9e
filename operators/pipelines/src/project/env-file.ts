import { faultAt } from "./problem-error.js";
import type { Place } from "./source-text.js";

interface EnvEntry {
  readonly value: string;
  readonly expands: boolean;
  readonly place: Place;
}

const LINE = /^\s*(?:export\s+)?([\w.-]+)\s*[=:]\s*(.*)$/;

/**
 * Parses the variables of a `.env` file. `$NAME` and `${NAME}` stand for other variables of the file, or of `outer`.
 */
export function envFile(
  path: string,
  text: string,
  outer: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = entriesOf(path, text);
  const values: Record<string, string> = {};
  const resolve = (name: string, asking: readonly string[]): string => {
    const entry = entries.get(name);
    if (!entry) return Object.hasOwn(outer, name) ? outer[name]! : "";
    if (asking.includes(name)) {
      if (Object.hasOwn(outer, name)) return outer[name]!;
      throw faultAt(entry.place, `circular variables: ${[...asking, name].join(" → ")}`);
    }
    if (!entry.expands) return entry.value;
    return entry.value.replace(/\\\$|\$\{([\w.-]+)\}|\$(\w+)/g, (match, braced?: string, bare?: string) =>
      match === "\\$" ? "$" : resolve((braced ?? bare)!, [...asking, name]),
    );
  };
  for (const name of entries.keys()) values[name] = resolve(name, []);
  return values;
}

function entriesOf(path: string, text: string): ReadonlyMap<string, EnvEntry> {
  const entries = new Map<string, EnvEntry>();
  const lines = text.split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    if (/^\s*(#|$)/.test(line)) continue;
    const place = { path, line: index + 1, column: line.search(/\S/) + 1 };
    const match = LINE.exec(line);
    if (!match) throw faultAt(place, "a line of an .env file must be NAME=value");
    let value = match[2]!.trim();
    const quote = /^["']/.exec(value)?.[0];
    if (!quote) {
      entries.set(match[1]!, { value: value.replace(/\s+#.*$/, ""), expands: true, place });
      continue;
    }
    const closing = quote === '"' ? /^"(?:[^"\\]|\\[\s\S])*"/ : /^'[^']*'/;
    while (!closing.test(value) && index + 1 < lines.length) value += `\n${lines[++index]}`;
    const whole = closing.exec(value)?.[0];
    if (whole === undefined) throw faultAt(place, `the value of ${match[1]} is not closed: ${quote} is missing`);
    const inner = whole.slice(1, -1);
    entries.set(match[1]!, { value: quote === '"' ? unescaped(inner) : inner, expands: quote === '"', place });
  }
  return entries;
}

function unescaped(text: string): string {
  return text.replace(/\\([nrt"\\])/g, (_match, code: string) => ({ n: "\n", r: "\r", t: "\t" })[code] ?? code);
}
